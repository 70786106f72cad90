package io.eventbus.loadtest.attack.run;

import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.BusAddress;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.FreePorts;
import io.eventbus.loadtest.driver.ServerProcess;
import io.eventbus.loadtest.driver.TokenIssuer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A bus in a process of its own, from any jar, or two of one cluster. For one thread. */
final class AttackedBus implements AutoCloseable {
  private static final Pattern LISTENS =
      Pattern.compile("listens on (wss?://\\S+), administration on (http://\\S+)");
  private static final Pattern VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+)");
  private static final Duration START = Duration.ofSeconds(60);
  private static final int WARNS_OF_NATIVE_CODE = 22;
  private static final int WARNS_OF_UNSAFE = 23;
  private static final List<String> ALONE =
      List.of("--port", "0", "--admin-host", BusAddress.HOST, "--admin-port", "0");
  private static final int MEMBERS = 2;
  private static final int PORTS_EACH = 3;
  private static final int POLL_MILLIS = 100;
  private static final int ASK_MILLIS = 2_000;
  private static final int OK = 200;
  private static final String LANES_UP = "eventbus_federation_lanes{state=\"up\"}";
  private static final String LIMITED = "ulimit -n \"$0\"; exec \"$@\"";

  private final List<ServerProcess> processes = new ArrayList<>();
  private final List<BusAddress> addresses = new ArrayList<>();
  private final String attackersToken;
  private final boolean together;

  private AttackedBus(String attackersToken, boolean together) {
    this.attackersToken = attackersToken;
    this.together = together;
  }

  static AttackedBus start(BusSpec spec, Needs needs, Path directory) throws Exception {
    Map<String, String> settings = new TreeMap<>(needs.settings());
    if (needs.tls()) {
      ServerCertificate certificate = ServerCertificate.make(directory);
      settings.put("tls.certificate", certificate.chain().toString());
      settings.put("tls.key", certificate.key().toString());
    }
    String honest = needs.token();
    String hostile = needs.token();
    if (!needs.roles().isEmpty()) {
      TokenIssuer issuer = new TokenIssuer(directory, System.currentTimeMillis() / 1000);
      Path roles = Files.writeString(directory.resolve("roles.conf"), needs.roles());
      settings.putAll(issuer.settings());
      settings.put("auth.roles-file", roles.toString());
      honest = issuer.token("honest", "honest", "");
      hostile = issuer.token("hostile", "hostile", "");
    }
    if (!needs.journals().isEmpty()) {
      settings.put("durable.directory", directory.resolve("data").toString());
      settings.put("durable.journals", needs.journals());
    }
    settings.putAll(spec.settings());
    AttackedBus bus = new AttackedBus(hostile, needs.together());
    try {
      List<List<String>> places = needs.cluster() ? members(directory) : List.of(ALONE);
      for (List<String> place : places) {
        bus.launch(command(spec, needs, place, settings), needs);
      }
      for (ServerProcess process : bus.processes) {
        bus.listens(process, needs.tls(), honest);
      }
      if (needs.cluster()) {
        bus.awaitTogether(needs);
      }
      return bus;
    } catch (Exception e) {
      bus.close();
      throw e;
    }
  }

  private static List<String> command(
      BusSpec spec, Needs needs, List<String> place, Map<String, String> settings) {
    List<String> command = new ArrayList<>();
    if (needs.descriptors() > 0) {
      // A jar raises its soft limit up to the hard one, so both are set.
      command.addAll(List.of("bash", "-c", LIMITED, Integer.toString(needs.descriptors())));
    }
    command.add(spec.javaHome().resolve("bin").resolve("java").toString());
    command.addAll(List.of("-Xmx" + spec.heap(), "-XX:+ExitOnOutOfMemoryError"));
    command.addAll(permissions(spec.javaHome()));
    command.addAll(List.of("-jar", spec.jar().toString(), "serve", "--host", BusAddress.HOST));
    command.addAll(place);
    settings.forEach((key, value) -> command.addAll(List.of("--set", key + "=" + value)));
    return command;
  }

  /** Two buses of a cluster; each is told the other's ports before it starts. */
  private static List<List<String>> members(Path directory) {
    List<Integer> ports = FreePorts.find(MEMBERS * PORTS_EACH);
    List<List<String>> members = new ArrayList<>();
    for (int i = 0; i < MEMBERS; i++) {
      List<Integer> own = ports.subList(i * PORTS_EACH, (i + 1) * PORTS_EACH);
      members.add(
          List.of(
              "--name",
              "bus-" + i,
              "--port",
              own.get(0).toString(),
              "--admin-host",
              BusAddress.HOST,
              "--admin-port",
              own.get(1).toString(),
              "--cluster-directory",
              directory.resolve("bus-" + i).toString(),
              "--cluster-host",
              BusAddress.HOST,
              "--cluster-port",
              own.get(2).toString(),
              "--join",
              BusAddress.HOST + ":" + ports.get(2),
              // No client is to be moved from the attacked bus to the other one.
              "--set",
              "balance.enabled=false"));
    }
    return members;
  }

  private void launch(List<String> command, Needs needs) {
    Map<String, String> secrets = new TreeMap<>();
    if (!needs.token().isEmpty()) {
      secrets.put("EVENTBUS_AUTH_TOKEN", needs.token());
    }
    if (!needs.adminToken().isEmpty()) {
      secrets.put("EVENTBUS_ADMIN_TOKEN", needs.adminToken());
    }
    processes.add(ServerProcess.start("bus", command, secrets));
  }

  private void listens(ServerProcess process, boolean tls, String token) {
    Matcher listens = process.awaitOutput(LISTENS, START);
    URI clients = URI.create(listens.group(1));
    URI admin = URI.create(listens.group(2));
    addresses.add(
        new BusAddress(clients.getPort(), clients.getPath(), admin.getPort(), tls, token));
  }

  private void awaitTogether(Needs needs) throws InterruptedException {
    long end = System.nanoTime() + START.toNanos();
    for (BusAddress address : addresses) {
      Admin admin = new Admin(address.adminPort(), needs.adminToken());
      while (!isLinked(admin)) {
        if (System.nanoTime() - end > 0) {
          throw new DriverException("the buses are not linked after " + START.toSeconds() + " s");
        }
        Thread.sleep(POLL_MILLIS);
      }
    }
  }

  private static boolean isLinked(Admin admin) {
    return admin.get("/readyz", ASK_MILLIS).status() == OK && admin.metric(LANES_UP) > 0;
  }

  private static List<String> permissions(Path javaHome) {
    try {
      Matcher version = VERSION.matcher(Files.readString(javaHome.resolve("release")));
      int major = version.find() ? Integer.parseInt(version.group(1)) : 0;
      List<String> options = new ArrayList<>();
      if (major >= WARNS_OF_NATIVE_CODE) {
        options.add("--enable-native-access=ALL-UNNAMED");
      }
      if (major >= WARNS_OF_UNSAFE) {
        options.add("--sun-misc-unsafe-memory-access=allow");
      }
      return options;
    } catch (IOException e) {
      throw new UncheckedIOException("no JDK in " + javaHome, e);
    }
  }

  /** Returns the address of the honest clients' bus, with what they show. */
  BusAddress address() {
    return addresses.get(addresses.size() - 1);
  }

  /** Returns the address of the attacked bus, with what attackers show. */
  BusAddress attacked() {
    return (together ? address() : addresses.get(0)).withToken(attackersToken);
  }

  /** Returns the process of the honest clients' bus. */
  long pid() {
    return observed().pid();
  }

  private ServerProcess observed() {
    return processes.get(processes.size() - 1);
  }

  /** Returns whether all run. */
  boolean isAlive() {
    return processes.stream().allMatch(ServerProcess::isAlive);
  }

  /** Returns how the first that has ended did, -1 while all run. */
  int exitCode() {
    return ended().exitCode();
  }

  /** Returns the first that has ended, or that of the honest. */
  private ServerProcess ended() {
    return processes.stream().filter(p -> !p.isAlive()).findFirst().orElse(observed());
  }

  /** Counts the lines of all logs. */
  long logLines() {
    return processes.stream().mapToLong(ServerProcess::outputLines).sum();
  }

  /** Counts the octets of all logs. */
  long logBytes() {
    return processes.stream().mapToLong(ServerProcess::outputBytes).sum();
  }

  /** Returns the end of the log of the one that has ended. */
  String tail() {
    return ended().tail();
  }

  /** Ends them by force: what they would still deliver is of no interest. */
  @Override
  public void close() {
    processes.forEach(ServerProcess::kill);
    processes.forEach(ServerProcess::close);
  }
}
