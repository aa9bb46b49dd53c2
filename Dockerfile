# heddle in a container, with what its simulator needs:
#     docker build -t heddle . && docker run --rm -v "$PWD:/work" -v heddle-cache:/root/.cache heddle run net.tflite
# .ci/trixie runs the commands of RUN in a chroot.
FROM debian:trixie-slim
COPY . /heddle
WORKDIR /heddle
RUN apt-get update && apt-get install -y --no-install-recommends make
RUN .ci/setup build && rm -rf /var/lib/apt/lists/*
RUN make program
ENV PATH=/heddle/build:$PATH
WORKDIR /work
ENTRYPOINT ["heddle"]
