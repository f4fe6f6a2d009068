# syntax=docker/dockerfile:1
# ExCAM on CPUs: docker build -f k8s/images/cpu.Dockerfile -t excam:0.1.0-cpu .
# PYTHON may be given with a digest (python:3.11.13-slim-bookworm@sha256:…) where builds must be bit for bit the same.
ARG PYTHON=python:3.11.13-slim-bookworm

FROM ${PYTHON} AS environment
RUN pip install --no-cache-dir uv==0.13.7 && python -m venv /opt/excam/venv
WORKDIR /src
COPY pyproject.toml requirements.lock ./
# The lock pins everything; what only tests need is left out, and so are CUDA's libraries.
RUN uv pip compile --quiet pyproject.toml --extra cpu --extra train --constraint requirements.lock --no-header --output-file image.lock \
 && grep -vE '^(nvidia-|cuda-|triton)' image.lock > cpu.lock \
 && uv pip sync --no-cache --torch-backend cpu --python /opt/excam/venv/bin/python cpu.lock
COPY README.md ./
COPY excam excam
COPY serve serve
COPY pipelines pipelines
COPY train train
RUN uv pip install --no-cache --no-deps --python /opt/excam/venv/bin/python .

# Weights are a layer of their own: they change seldom. Leave BASES empty to mount a cache at /opt/excam/cache instead.
FROM environment AS models
ARG BASES="smollm2-135m qwen2.5-coder-0.5b"
ENV EXCAM_CACHE=/opt/excam/cache
RUN mkdir -p /opt/excam/cache && for base in ${BASES}; do \
      /opt/excam/venv/bin/excam models fetch "${base}" && /opt/excam/venv/bin/excam judge info --base "${base}" || exit 1; done \
 && rm -rf /opt/excam/cache/gguf /opt/excam/cache/downloads /opt/excam/cache/tmp

FROM ${PYTHON}
# vLLM on CPUs asks for OpenMP and NUMA; KubeRay starts its containers with bash, which is there.
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 libnuma1 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 excam && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /tmp excam
COPY --from=environment /opt/excam/venv /opt/excam/venv
COPY --from=models --chown=10001:10001 /opt/excam/cache /opt/excam/cache
ENV PATH=/opt/excam/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 HOME=/tmp EXCAM_CACHE=/opt/excam/cache
USER 10001:10001
WORKDIR /tmp
CMD ["excam", "--help"]
