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
HEALTHCHECK --interval=10s --timeout=3s CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8081 && printf 'GET /readyz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
# On SIGTERM the bus delivers what is queued and closes its clients with 1001; give it time (timeouts.shutdown).
STOPSIGNAL SIGTERM
# Of the container's memory two fifths are heap; what waits for clients takes at most a fifth more outside of it, and the JVM
# itself about 150 MB: it fits from 384 MB on. A JVM without memory ends, and what runs the container starts another.
ENTRYPOINT ["java", "-XX:MaxRAMPercentage=40", "-XX:+ExitOnOutOfMemoryError", "-jar", "/opt/eventbus/eventbus.jar"]
CMD ["serve"]
