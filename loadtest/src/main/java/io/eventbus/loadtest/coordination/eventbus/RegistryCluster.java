package io.eventbus.loadtest.coordination.eventbus;

import io.eventbus.link.LinkNode;
import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.coordination.ServerGroup;
import io.eventbus.loadtest.coordination.VisibleCluster;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.ServerProcess;
import io.eventbus.loadtest.workload.Registers.Placement;
import io.eventbus.registry.Endpoint;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

/** The registry's servers: the first one founds the cluster, the others join it. */
final class RegistryCluster implements VisibleCluster {
  private static final Pattern LISTENING = Pattern.compile(RegistryServer.LISTENING + "(\\d+)\\R");
  private static final Pattern READY = Pattern.compile(RegistryServer.READY + "([0-9.]+) ms\\R");
  private static final Duration START = Duration.ofSeconds(60);

  private final Path directory;
  private final List<String> jvmOptions;
  private final ServerGroup group = new ServerGroup();
  private final List<Endpoint> servers = new ArrayList<>();
  private final List<CoordinationClient> clients = new ArrayList<>();
  private final LinkNode links = RegistryServer.links("load-test");
  private final AtomicLong newest = new AtomicLong();
  private final int voters;

  RegistryCluster(int servers, Path directory, List<String> jvmOptions) {
    this.directory = directory;
    this.jvmOptions = jvmOptions;
    this.voters = servers;
  }

  /** Starts one more server, and waits until it takes part. */
  @Override
  public Joined join() {
    long start = System.nanoTime();
    ServerProcess process = startServer(servers.size(), 0);
    group.add(process);
    servers.add(
        new Endpoint(
            "127.0.0.1", Integer.parseInt(process.awaitOutput(LISTENING, START).group(1))));
    double millis = Double.parseDouble(process.awaitOutput(READY, START).group(1));
    return new Joined(millis, (System.nanoTime() - start) / 1e6);
  }

  private ServerProcess startServer(int number, int port) {
    List<String> arguments = new ArrayList<>();
    arguments.add("server-" + number);
    arguments.add(directory.resolve("server-" + number).toString());
    arguments.add(Integer.toString(port));
    arguments.add(Integer.toString(voters));
    for (int i = 0; i < servers.size(); i++) {
      if (i != number) {
        arguments.add(Integer.toString(servers.get(i).port()));
      }
    }
    return ServerProcess.startJava(
        "eventbus", jvmOptions, RegistryServer.class.getName(), arguments);
  }

  @Override
  public int servers() {
    return servers.size();
  }

  @Override
  public List<Long> pids() {
    return group.pids();
  }

  @Override
  public int leader() {
    int leader = -1;
    long term = -1;
    for (int i = 0; i < servers.size(); i++) {
      Optional<RegistryControl.Status> status = status(i);
      if (status.isPresent() && status.get().leads() && status.get().term() > term) {
        leader = i;
        term = status.get().term();
      }
    }
    return leader;
  }

  @Override
  public long term() {
    long term = -1;
    for (int i = 0; i < servers.size(); i++) {
      term = Math.max(term, status(i).map(RegistryControl.Status::term).orElse(-1L));
    }
    return term;
  }

  @Override
  public void kill(int server) {
    group.kill(server);
  }

  @Override
  public void restart(int server) {
    group.replace(server, startServer(server, servers.get(server).port()));
  }

  @Override
  public void awaitWhole() throws InterruptedException {
    ServerGroup.await("the servers of the registry take part", this::isWhole);
  }

  private boolean isWhole() {
    int leader = leader();
    if (leader < 0) {
      return false;
    }
    long applied = status(leader).map(RegistryControl.Status::applied).orElse(Long.MAX_VALUE);
    for (int i = 0; i < servers.size(); i++) {
      Optional<RegistryControl.Status> status = status(i);
      if (status.isEmpty()
          || status.get().changing()
          || status.get().voters() != Math.min(voters, servers.size())
          || status.get().members() != servers.size()
          || status.get().applied() < applied) {
        return false;
      }
    }
    return true;
  }

  private Optional<RegistryControl.Status> status(int server) {
    if (!group.isAlive(server)) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          RegistryControl.Status.decode(
              RegistryControl.ask(links, address(server), "control", RegistryControl.STATUS, "")));
    } catch (CoordinationException e) {
      return Optional.empty();
    }
  }

  private InetSocketAddress address(int server) {
    return RegistryControl.address(servers.get(server));
  }

  @Override
  public String timedRegister() {
    return RegistryServer.TIMED;
  }

  @Override
  public long[] seen(int server) {
    return RegistryControl.times(
        RegistryControl.ask(links, address(server), "control", RegistryControl.SEEN, ""));
  }

  @Override
  public CoordinationClient connect(int number, Placement placement) {
    CoordinationClient client =
        new RegistryWriter(
            links, number, servers, ServerGroup.place(this, number, placement), newest);
    clients.add(client);
    return client;
  }

  @Override
  public void close() {
    clients.forEach(CoordinationClient::close);
    links.close();
    try {
      group.close();
    } catch (DriverException e) {
      throw new CoordinationException("end", e);
    }
  }
}
