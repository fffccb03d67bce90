FROM oven/bun:1 AS build
WORKDIR /src
COPY package.json package-lock.json ./
# What the binary is made of; the tools for tests and checks stay outside.
RUN bun install --production --frozen-lockfile --ignore-scripts
COPY . .
RUN bun scripts/build.ts

FROM debian:bookworm-slim
# Without an init as process 1, ended children would stay as zombies.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates tini \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --create-home --uid 1000 plexus \
  && install -d -o plexus -g plexus -m 0700 /data
COPY --from=build /src/dist/plexus /usr/local/bin/plexus
USER plexus
WORKDIR /home/plexus
ENV PLEXUS_HOST=0.0.0.0 PLEXUS_DATA_DIR=/data
VOLUME /data
EXPOSE 4445
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["plexus", "healthcheck"]
ENTRYPOINT ["tini", "--", "plexus"]
CMD ["serve"]
