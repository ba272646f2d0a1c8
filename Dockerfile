# graft on Debian 12, with the sources, so that the library can be built again for another LibTorch.
#
#   docker build -t graft .                                    Debian's LibTorch, for the CPU
#   docker build -t graft --build-arg LIBTORCH=wheel .         PyTorch's wheel, for NVIDIA GPUs
#   docker run --rm -v "$PWD:/data" graft train job.toml       --gpus all uses GPUs
FROM debian:12

# LIBTORCH, TORCH and PIP_ARGS as the Makefile says.
ARG LIBTORCH=
ARG TORCH=
ARG PIP_ARGS=

# Go comes from the backports of the Debian mirror that the image names, and fetches the version that go.mod names.
ENV GOTOOLCHAIN=auto
RUN sed -i 's/^Suites: bookworm bookworm-updates$/& bookworm-backports/' /etc/apt/sources.list.d/debian.sources \
 && apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends ca-certificates git make g++ python3 python3-venv \
 && apt-get install -y -qq --no-install-recommends -t bookworm-backports golang-go

COPY . /usr/src/graft
WORKDIR /usr/src/graft
RUN make install PREFIX=/usr/local LIBTORCH="$LIBTORCH" TORCH="$TORCH" PIP_ARGS="$PIP_ARGS" \
 && go clean -cache -modcache \
 && rm -rf build/obj bin "$HOME/.cache" /var/lib/apt/lists/*

WORKDIR /data
ENTRYPOINT ["graft"]
CMD ["--help"]
