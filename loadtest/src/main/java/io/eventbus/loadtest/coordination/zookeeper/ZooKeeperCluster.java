package io.eventbus.loadtest.coordination.zookeeper;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationCluster;
import io.eventbus.loadtest.coordination.ServerGroup;
import io.eventbus.loadtest.driver.FreePorts;
import io.eventbus.loadtest.driver.ServerProcess;
import io.eventbus.loadtest.workload.Registers.Placement;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** ZooKeeper's servers; one of them alone runs without the protocol between servers. */
final class ZooKeeperCluster implements CoordinationCluster {
  private static final String MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
  private static final Pattern MODE = Pattern.compile("Mode: (\\w+)");
  private static final Pattern EPOCH = Pattern.compile("Zxid: 0x([0-9a-f]+)");
  private static final int ANSWER_MILLIS = 1_000;

  /** The sample configuration of its distribution; forceSync, which it has on, is left alone. */
  private static final String CONFIGURATION =
      """
      tickTime=2000
      initLimit=10
      syncLimit=5
      dataDir=%s
      clientPort=%d
      clientPortAddress=127.0.0.1
      maxClientCnxns=0
      admin.enableServer=false
      4lw.commands.whitelist=srvr
      """;

  private final int servers;
  private final Path directory;
  private final List<String> jvmOptions;
  private final List<Integer> ports;
  private final ServerGroup group = new ServerGroup();
  private final List<CoordinationClient> clients = new ArrayList<>();

  ZooKeeperCluster(int servers, Path directory, List<String> jvmOptions) {
    this.servers = servers;
    this.directory = directory;
    this.jvmOptions = jvmOptions;
    this.ports = FreePorts.find(3 * servers);
  }

  void start() {
    StringBuilder others = new StringBuilder();
    for (int i = 0; servers > 1 && i < servers; i++) {
      others.append(
          "server.%d=127.0.0.1:%d:%d%n"
              .formatted(i + 1, ports.get(servers + i), ports.get(2 * servers + i)));
    }
    try {
      for (int i = 0; i < servers; i++) {
        Path data = Files.createDirectories(data(i));
        Files.writeString(data.resolve("myid"), Integer.toString(i + 1));
        Files.writeString(file(i), CONFIGURATION.formatted(data, ports.get(i)) + others);
        group.add(startServer(i));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path data(int server) {
    return directory.resolve("server-" + server);
  }

  private Path file(int server) {
    return directory.resolve("server-" + server + ".cfg");
  }

  private ServerProcess startServer(int server) {
    return ServerProcess.startJava("zookeeper", jvmOptions, MAIN, List.of(file(server).toString()));
  }

  @Override
  public int servers() {
    return servers;
  }

  @Override
  public List<Long> pids() {
    return group.pids();
  }

  @Override
  public int leader() {
    for (int i = 0; i < servers; i++) {
      String mode = find(MODE, i);
      if (mode.equals("leader") || mode.equals("standalone")) {
        return i;
      }
    }
    return -1;
  }

  /** The upper half of the number of the last change is the leader's epoch. */
  @Override
  public long term() {
    long epoch = -1;
    for (int i = 0; i < servers; i++) {
      String zxid = find(EPOCH, i);
      if (!zxid.isEmpty()) {
        epoch = Math.max(epoch, Long.parseUnsignedLong(zxid, 16) >>> 32);
      }
    }
    return epoch;
  }

  private String find(Pattern pattern, int server) {
    if (!group.isAlive(server)) {
      return "";
    }
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), ports.get(server))) {
      socket.setSoTimeout(ANSWER_MILLIS);
      socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
      Matcher matcher =
          pattern.matcher(
              new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII));
      return matcher.find() ? matcher.group(1) : "";
    } catch (IOException e) {
      return "";
    }
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
    ServerGroup.await("the servers of ZooKeeper take part", this::isWhole);
  }

  private boolean isWhole() {
    for (int i = 0; i < servers; i++) {
      if (find(MODE, i).isEmpty()) {
        return false;
      }
    }
    return leader() >= 0;
  }

  @Override
  public CoordinationClient connect(int number, Placement placement) {
    // Its client picks one of the servers by chance.
    List<Integer> known =
        placement == Placement.LEADER
            ? List.of(ports.get(ServerGroup.place(this, number, placement)))
            : ports.subList(0, servers);
    String addresses =
        known.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
    CoordinationClient client = new ZooKeeperWriter(addresses);
    clients.add(client);
    return client;
  }

  @Override
  public void close() {
    // The servers first: a client that closes would wait for one that was killed.
    group.close();
    clients.forEach(CoordinationClient::close);
  }
}
