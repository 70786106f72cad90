# The build needs the sources only; the image that runs has a JRE and one jar.
FROM maven:3.9-eclipse-temurin-17 AS build
WORKDIR /src
COPY . .
RUN mvn -B -q -pl eventbus-server -am package -DskipTests -Dspotless.check.skip=true

FROM eclipse-temurin:17-jre
# Where a bus in a cluster keeps its copy of the registry (EVENTBUS_CLUSTER_DIRECTORY), and a bus alone the key by which it knows its clients after a restart
# (.eventbus/resume-key; or set EVENTBUS_AUTH_RESUME_KEY_FILE): mount a volume there.
RUN useradd --system --uid 10001 --home-dir /var/lib/eventbus eventbus && install -d -o 10001 /var/lib/eventbus
COPY --from=build /src/eventbus-server/target/eventbus.jar /opt/eventbus/eventbus.jar
USER 10001
# Clients; the administration, which listens on loopback inside the container unless admin.host says otherwise; other buses.
EXPOSE 8080 8081 8082
# Whether the process lives, not whether it takes clients: a bus that waits for its cluster or drains must not be killed. With TLS at the administration port, whether somebody listens there. The check knows admin.port and admin.tls-certificate from the environment only.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${EVENTBUS_ADMIN_PORT:-8081} || exit 1; [ -z \"$EVENTBUS_ADMIN_TLS_CERTIFICATE\" ] || exit 0; printf 'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
# On SIGTERM the bus delivers what is queued and closes its clients with 1001; give it time (timeouts.shutdown).
STOPSIGNAL SIGTERM
# Of the container's memory two fifths are heap; what waits for clients takes at most a fifth more outside of it, and the JVM
# itself about 150 MB: it fits from 384 MB on. A JVM without memory ends, and what runs the container starts another.
# Without a limit of the container's memory the two fifths are of the host's. EVENTBUS_JAVA_OPTS has further options.
ENTRYPOINT ["bash", "-c", "exec java -XX:MaxRAMPercentage=40 -XX:+ExitOnOutOfMemoryError $EVENTBUS_JAVA_OPTS -jar /opt/eventbus/eventbus.jar \"$@\"", "eventbus"]
CMD ["serve"]
