"""What the benchmark of a training step makes of the names of kernels and operations."""

from __future__ import annotations

import pytest

from bench.training import by_kind, kind_of


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("nvjet_sm90_tst_128x256_64x4_1x2_h_bz_coopA_TNT", "matrix products"),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", "matrix products"),
        ("aten::mm", "matrix products"),
        ("void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<...>", "attention"),
        ("aten::_scaled_dot_product_flash_attention_for_cpu", "attention"),
        ("void at::native::indexFuncLargeIndex<float, long, unsigned int, 2>", "gathering"),
        ("triton_poi_fused_index_add_mul_silu_3", "compiled, pointwise"),
        ("void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor>", "optimizer"),
        ("aten::sqrt", "everything else"),
    ],
)
def test_a_name_tells_the_kind_of_work(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_times_are_summed_by_kind_the_longest_first() -> None:
    times = {"aten::mm": 1.0, "aten::sqrt": 5.0, "aten::bmm": 2.0}
    assert list(by_kind(times).items()) == [("everything else", 5.0), ("matrix products", 3.0)]
