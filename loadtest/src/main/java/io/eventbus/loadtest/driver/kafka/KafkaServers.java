package io.eventbus.loadtest.driver.kafka;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverJournal;
import io.eventbus.loadtest.driver.FreePorts;
import io.eventbus.loadtest.driver.JournalSession;
import io.eventbus.loadtest.driver.ServerProcess;
import io.eventbus.loadtest.workload.Workload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.TopicExistsException;

/** Servers with a topic of one partition. For one thread. */
final class KafkaServers implements JournalSession.Servers {
  private static final TopicPartition PARTITION = new TopicPartition(Workload.topic(0), 0);
  private static final Duration START = Duration.ofMinutes(2);
  private static final Duration ANSWER = Duration.ofSeconds(10);
  private static final Duration CLOSE = Duration.ofSeconds(1);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Options of its start script, with half the heap. */
  private static final List<String> JVM =
      List.of(
          "-Xmx512m",
          "-XX:+UseG1GC",
          "-XX:MaxGCPauseMillis=20",
          "-XX:InitiatingHeapOccupancyPercent=35",
          // Warnings only; without a configuration logback writes everything.
          "-Dlogback.configurationFile=loadtest-logback.xml");

  private static final String CONFIGURATION =
      """
      process.roles=broker,controller
      node.id=%d
      controller.quorum.voters=%s
      controller.listener.names=CONTROLLER
      listeners=PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d
      log.dirs=%s
      """;

  private final List<ServerProcess> processes = new ArrayList<>();
  private final String addresses;
  private final boolean serial;

  private KafkaServers(List<Integer> ports, boolean serial) {
    this.addresses =
        ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
    this.serial = serial;
  }

  /**
   * Starts servers, and makes the topic.
   *
   * @param more further configuration of each
   * @param serial whether an event is published when the one before is confirmed
   */
  static KafkaServers start(
      String name, int count, Path data, String more, List<String> jvmOptions, boolean serial) {
    List<Integer> ports = FreePorts.find(2 * count);
    List<Integer> controllers = ports.subList(count, 2 * count);
    String voters =
        IntStream.range(0, count)
            .mapToObj(i -> (i + 1) + "@127.0.0.1:" + controllers.get(i))
            .collect(Collectors.joining(","));
    String cluster = Uuid.randomUuid().toString();
    List<String> options = new ArrayList<>(JVM);
    options.addAll(jvmOptions);
    KafkaServers all = new KafkaServers(ports.subList(0, count), serial);
    try {
      for (int i = 0; i < count; i++) {
        Path file = data.resolve("server-" + i + ".properties");
        Path own = data.toAbsolutePath().resolve("server-" + i);
        Files.writeString(
            file,
            CONFIGURATION.formatted(i + 1, voters, ports.get(i), controllers.get(i), own) + more);
        all.processes.add(
            ServerProcess.startJava(
                name, options, KafkaMain.class.getName(), List.of(file.toString(), cluster)));
      }
      all.addTopic(count);
      return all;
    } catch (IOException e) {
      all.close();
      throw new UncheckedIOException(e);
    } catch (RuntimeException e) {
      all.close();
      throw e;
    }
  }

  /** Makes the topic once as many servers are there as it has replicas. */
  private void addTopic(int replicas) {
    NewTopic topic = new NewTopic(PARTITION.topic(), 1, (short) replicas);
    if (replicas > 1) {
      String majority = Integer.toString(replicas / 2 + 1);
      topic.configs(Map.of(TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG, majority));
    }
    Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, addresses));
    try {
      long end = System.nanoTime() + START.toNanos();
      while (true) {
        try {
          admin.createTopics(List.of(topic)).all().get(ANSWER.toMillis(), TimeUnit.MILLISECONDS);
          return;
        } catch (ExecutionException | TimeoutException e) {
          if (e.getCause() instanceof TopicExistsException) {
            // An attempt before has succeeded, and its answer was lost or late.
            return;
          }
          checkAlive();
          if (System.nanoTime() - end > 0) {
            throw new DriverException("no topic after " + START.toSeconds() + " s", e);
          }
          LockSupport.parkNanos(POLL_NANOS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException("interrupted while a topic was made", e);
    } finally {
      admin.close(CLOSE);
    }
  }

  private void checkAlive() {
    for (ServerProcess process : processes) {
      if (!process.isAlive()) {
        throw new DriverException(
            "a server ended with " + process.exitCode() + ":\n" + process.tail());
      }
    }
  }

  @Override
  public List<Long> pids() {
    return processes.stream().map(ServerProcess::pid).toList();
  }

  @Override
  public DriverJournal journal() {
    return KafkaJournal.connect(addresses, PARTITION, serial);
  }

  @Override
  public void close() {
    ServerProcess.killAll(processes);
  }
}
