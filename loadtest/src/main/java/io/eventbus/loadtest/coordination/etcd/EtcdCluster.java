package io.eventbus.loadtest.coordination.etcd;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationCluster;
import io.eventbus.loadtest.coordination.ServerGroup;
import io.eventbus.loadtest.driver.FreePorts;
import io.eventbus.loadtest.driver.ServerProcess;
import io.eventbus.loadtest.workload.Registers.Placement;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * etcd's servers, with their defaults, and with compaction: by default they keep every value that a
 * key ever had.
 */
final class EtcdCluster implements CoordinationCluster {
  private static final Duration ANSWER = Duration.ofSeconds(1);

  private final Path program;
  private final int servers;
  private final Path directory;
  private final List<Integer> ports;
  private final ServerGroup group = new ServerGroup();
  private final List<ManagedChannel> control;
  private final List<CoordinationClient> clients = new ArrayList<>();

  EtcdCluster(Path program, int servers, Path directory) {
    this.program = program;
    this.servers = servers;
    this.directory = directory;
    this.ports = FreePorts.find(2 * servers);
    this.control = ports.subList(0, servers).stream().map(EtcdWriter::channel).toList();
  }

  void start() {
    for (int i = 0; i < servers; i++) {
      group.add(startServer(i));
    }
  }

  private ServerProcess startServer(int server) {
    String client = url(ports.get(server));
    String peer = url(ports.get(servers + server));
    String all =
        IntStream.range(0, servers)
            .mapToObj(i -> "server-" + i + "=" + url(ports.get(servers + i)))
            .collect(Collectors.joining(","));
    return ServerProcess.start(
        "etcd",
        List.of(
            program.toString(),
            "--name=server-" + server,
            "--data-dir=" + directory.resolve("server-" + server),
            "--listen-client-urls=" + client,
            "--advertise-client-urls=" + client,
            "--listen-peer-urls=" + peer,
            "--initial-advertise-peer-urls=" + peer,
            "--initial-cluster=" + all,
            "--initial-cluster-state=new",
            "--auto-compaction-mode=revision",
            "--auto-compaction-retention=10000",
            "--log-level=error"),
        Map.of());
  }

  private static String url(int port) {
    return "http://127.0.0.1:" + port;
  }

  @Override
  public int servers() {
    return servers;
  }

  @Override
  public List<Long> pids() {
    return group.pids();
  }

  private Optional<ProtoMessage> status(int server) {
    if (!group.isAlive(server)) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          ProtoMessage.parse(EtcdCall.STATUS.call(control.get(server), new byte[0], ANSWER)));
    } catch (StatusRuntimeException e) {
      // A channel that failed to connect waits before it tries again.
      control.get(server).resetConnectBackoff();
      return Optional.empty();
    }
  }

  @Override
  public int leader() {
    for (int i = 0; i < servers; i++) {
      Optional<ProtoMessage> status = status(i);
      if (status.isPresent()
          && status.get().number(4) != 0
          && status.get().number(4) == status.get().message(1).number(2)) {
        return i;
      }
    }
    return -1;
  }

  @Override
  public long term() {
    long term = -1;
    for (int i = 0; i < servers; i++) {
      term = Math.max(term, status(i).map(s -> s.number(6)).orElse(-1L));
    }
    return term;
  }

  @Override
  public void kill(int server) {
    group.kill(server);
  }

  @Override
  public void restart(int server) {
    group.replace(server, startServer(server));
  }

  @Override
  public void awaitWhole() throws InterruptedException {
    ServerGroup.await("the servers of etcd take part", this::isWhole);
  }

  private boolean isWhole() {
    for (int i = 0; i < servers; i++) {
      if (status(i).map(s -> s.number(4)).orElse(0L) == 0) {
        return false;
      }
    }
    return leader() >= 0;
  }

  @Override
  public CoordinationClient connect(int number, Placement placement) {
    CoordinationClient client =
        new EtcdWriter(ports.subList(0, servers), ServerGroup.place(this, number, placement));
    clients.add(client);
    return client;
  }

  @Override
  public void close() {
    group.close();
    clients.forEach(CoordinationClient::close);
    control.forEach(ManagedChannel::shutdownNow);
  }
}
