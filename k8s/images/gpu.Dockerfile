# syntax=docker/dockerfile:1
# ExCAM on NVIDIA GPUs: docker build -f k8s/images/gpu.Dockerfile -t excam:0.1.0-gpu .
# PYTHON may be given with a digest (python:3.11.13-slim-bookworm@sha256:…) where builds must be bit for bit the same.
ARG PYTHON=python:3.11.13-slim-bookworm

FROM ${PYTHON} AS environment
RUN pip install --no-cache-dir uv==0.13.7 && python -m venv /opt/excam/venv
WORKDIR /src
# gpu.lock: requirements.lock with vLLM's CUDA build in place of its CPU one; docs/decisions/101 says how it is made.
COPY k8s/images/gpu.lock ./
RUN uv pip sync --no-cache --python /opt/excam/venv/bin/python gpu.lock
COPY pyproject.toml README.md ./
COPY excam excam
COPY serve serve
COPY pipelines pipelines
COPY train train
RUN uv pip install --no-cache --no-deps --python /opt/excam/venv/bin/python .

# Weights are a layer of their own: they change seldom. Leave BASES empty to mount a cache at /opt/excam/cache instead.
FROM environment AS models
ARG BASES="qwen2.5-coder-1.5b"
ENV EXCAM_CACHE=/opt/excam/cache
RUN mkdir -p /opt/excam/cache && for base in ${BASES}; do /opt/excam/venv/bin/excam models fetch "${base}" || exit 1; done \
 && rm -rf /opt/excam/cache/gguf /opt/excam/cache/downloads /opt/excam/cache/tmp

FROM ${PYTHON}
# CUDA's libraries come with torch, the driver with the node. Triton compiles its launchers with a C compiler when it starts.
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev libnuma1 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 excam && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /tmp excam
COPY --from=environment /opt/excam/venv /opt/excam/venv
COPY --from=models --chown=10001:10001 /opt/excam/cache /opt/excam/cache
ENV PATH=/opt/excam/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 HOME=/tmp EXCAM_CACHE=/opt/excam/cache
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 10001:10001
WORKDIR /tmp
CMD ["excam", "--help"]
