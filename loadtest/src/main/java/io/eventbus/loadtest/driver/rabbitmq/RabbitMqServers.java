package io.eventbus.loadtest.driver.rabbitmq;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverJournal;
import io.eventbus.loadtest.driver.FreePorts;
import io.eventbus.loadtest.driver.JournalSession;
import io.eventbus.loadtest.driver.Programs;
import io.eventbus.loadtest.driver.ServerProcess;
import io.eventbus.loadtest.workload.Workload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Servers of one cluster with a quorum queue, and the Erlang port mapper by which they find each
 * other. All use the loopback interface only, and nothing of a RabbitMQ that the machine runs
 * otherwise. For one thread.
 */
final class RabbitMqServers implements JournalSession.Servers {
  private static final String QUEUE = Workload.topic(0);
  private static final Duration START = Duration.ofMinutes(2);
  private static final Pattern MAPPER_READY = Pattern.compile("entering the main select");
  private static final Pattern READY = Pattern.compile("Server startup complete");

  private final List<ServerProcess> processes = new ArrayList<>();
  private final Path scripts;
  private final Path data;
  private final List<Integer> ports;
  private final int count;

  private RabbitMqServers(Path scripts, int count, Path data) {
    this.scripts = scripts;
    this.data = data.toAbsolutePath();
    this.count = count;
    this.ports = FreePorts.find(1 + 2 * count);
  }

  /**
   * Starts servers one after the other, each joining the first, and declares the queue.
   *
   * @param scripts directory of RabbitMQ's scripts
   */
  static RabbitMqServers start(Path scripts, int count, Path data) {
    RabbitMqServers all = new RabbitMqServers(scripts, count, data);
    try {
      all.writeFiles();
      all.startMapper();
      for (int i = 0; i < count; i++) {
        all.startServer(i);
      }
      RabbitMqJournal.declare(all.port(), QUEUE);
      if (count > 1) {
        all.checkMembers();
      }
      return all;
    } catch (IOException e) {
      all.close();
      throw new UncheckedIOException(e);
    } catch (RuntimeException e) {
      all.close();
      throw e;
    }
  }

  private void writeFiles() throws IOException {
    Path cookie = Files.writeString(data.resolve(".erlang.cookie"), UUID.randomUUID().toString());
    // Erlang refuses a secret that others can read.
    Files.setPosixFilePermissions(cookie, PosixFilePermissions.fromString("r--------"));
    Files.writeString(data.resolve("plugins"), "[].");
    for (int i = 0; i < count; i++) {
      String configuration = "";
      if (i > 0) {
        configuration =
            """
            cluster_formation.peer_discovery_backend = classic_config
            cluster_formation.classic_config.nodes.1 = %s
            cluster_formation.classic_config.nodes.2 = %s
            """
                .formatted(node(0), node(i));
      }
      Files.writeString(data.resolve("server-" + i + ".conf"), configuration);
    }
  }

  private void startMapper() {
    Path program =
        Programs.find(RabbitMqDriver.EPMD)
            .orElseThrow(() -> new DriverException(RabbitMqDriver.EPMD + " is absent"));
    ServerProcess mapper =
        ServerProcess.start(
            "epmd",
            List.of(program.toString(), "-d", "-d", "-address", "127.0.0.1", "-port", mapperPort()),
            Map.of());
    processes.add(mapper);
    mapper.awaitOutput(MAPPER_READY, START);
  }

  private void startServer(int server) {
    Map<String, String> environment = new HashMap<>(environment(server));
    // Without a shell around the server, which would outlive it or be outlived.
    environment.put("RUNNING_UNDER_SYSTEMD", "true");
    environment.put("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1");
    environment.put("RABBITMQ_NODE_PORT", Integer.toString(ports.get(1 + server)));
    environment.put("RABBITMQ_DIST_PORT", Integer.toString(ports.get(1 + count + server)));
    environment.put(
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS",
        "-kernel inet_dist_use_interface {127,0,0,1} -start_epmd false");
    environment.put("RABBITMQ_MNESIA_BASE", data.resolve("server-" + server).toString());
    environment.put("RABBITMQ_LOG_BASE", data.resolve("server-" + server).toString());
    environment.put("RABBITMQ_LOGS", "-");
    environment.put("RABBITMQ_ENABLED_PLUGINS_FILE", data.resolve("plugins").toString());
    environment.put("RABBITMQ_CONFIG_FILE", data.resolve("server-" + server).toString());
    environment.put("RABBITMQ_CONFIG_FILES", data.resolve("none").toString());
    environment.put("RABBITMQ_ADVANCED_CONFIG_FILE", data.resolve("none").toString());
    ServerProcess process =
        ServerProcess.start(
            "rabbitmq", List.of(scripts.resolve("rabbitmq-server").toString()), environment);
    processes.add(process);
    process.awaitOutput(READY, START);
  }

  /** Returns what the server and its tools share. */
  private Map<String, String> environment(int server) {
    return Map.of(
        "HOME",
        data.toString(),
        "ERL_EPMD_PORT",
        mapperPort(),
        "ERL_EPMD_ADDRESS",
        "127.0.0.1",
        "RABBITMQ_NODENAME",
        node(server),
        "RABBITMQ_CONF_ENV_FILE",
        data.resolve("none").toString());
  }

  private static String node(int server) {
    return "rabbit-" + server + "@localhost";
  }

  private String mapperPort() {
    return Integer.toString(ports.get(0));
  }

  private int port() {
    return ports.get(1);
  }

  /** Checks that the queue has a member at each server: with fewer, less is measured. */
  private void checkMembers() {
    try (ServerProcess control =
        ServerProcess.start(
            "rabbitmqctl",
            List.of(
                scripts.resolve("rabbitmqctl").toString(),
                "--silent",
                "list_queues",
                "name",
                "online"),
            environment(0))) {
      control.awaitOutput(
          Pattern.compile(
              Pattern.quote(QUEUE) + "\\s+\\[([^,\\]]+, ){" + (count - 1) + "}[^,\\]]+\\]"),
          START);
    }
  }

  @Override
  public List<Long> pids() {
    return processes.stream().skip(1).map(ServerProcess::pid).toList();
  }

  @Override
  public DriverJournal journal() {
    return RabbitMqJournal.connect(port(), QUEUE);
  }

  @Override
  public void close() {
    ServerProcess.killAll(processes);
  }
}
