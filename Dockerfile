# docker build --tag manyclass .
# docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/data" manyclass train clip.npz -o run
FROM python:3.13-slim AS build
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends g++ \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY pyproject.toml CMakeLists.txt README.md LICENSE ./
COPY native native
COPY src src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
# Other extras: docker build --build-arg EXTRAS=plot,serve,parquet .
ARG EXTRAS=plot,serve
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(echo /wheels/*.whl)[${EXTRAS}]"
RUN useradd --uid 1000 --create-home manyclass
USER 1000
# Caches for whichever user it is run as.
ENV XDG_CACHE_HOME=/tmp/cache MPLCONFIGDIR=/tmp/matplotlib
WORKDIR /data
ENTRYPOINT ["manyclass"]
CMD ["--help"]
