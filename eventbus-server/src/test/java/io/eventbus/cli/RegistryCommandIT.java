package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.server.BusServer;
import io.eventbus.server.config.ServerConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code eventbus registry} with real buses. */
@Timeout(180)
class RegistryCommandIT {
  private static final String SECRET = "a-secret-for-tests-only";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final List<BusServer> buses = new ArrayList<>();
  private final Path root;

  RegistryCommandIT(@TempDir Path root) {
    this.root = root;
  }

  @AfterEach
  void close() {
    buses.forEach(BusServer::close);
  }

  private static Map<String, String> settings(Path directory, String name) {
    Map<String, String> values = new HashMap<>();
    values.put("listen.host", "127.0.0.1");
    values.put("listen.port", "0");
    values.put("listen.event-loops", "1");
    values.put("admin.port", "0");
    values.put("timeouts.shutdown", "1s");
    values.put("bus.name", name);
    values.put("cluster.host", "127.0.0.1");
    values.put("cluster.port", "0");
    values.put("cluster.secret", SECRET);
    values.put("cluster.directory", directory.toString());
    return values;
  }

  private BusServer start(String name, BusServer... others) throws Exception {
    Map<String, String> values = settings(root.resolve(name), name);
    if (others.length > 0) {
      values.put("cluster.join", "127.0.0.1:" + others[0].linkPort());
    }
    BusServer bus = BusServer.start(ServerConfig.of(values));
    buses.add(bus);
    until("bus " + name + " is UP", () -> states(bus).contains(name + "=UP"));
    return bus;
  }

  private static void until(String what, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("not within 60 s: " + what).isLessThan(end);
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private static List<String> states(BusServer bus) {
    List<String> states = new ArrayList<>();
    for (JsonNode member : json(run(bus, 0, "members", "--json")).path("items")) {
      states.add(member.path("bus").asText() + "=" + member.path("state").asText());
    }
    return states;
  }

  private static List<String> with(BusServer bus, String role) {
    List<String> found = new ArrayList<>();
    for (JsonNode member : json(run(bus, 0, "members", "--json")).path("items")) {
      if (member.path("role").asText().equals(role)) {
        found.add(member.path("bus").asText());
      }
    }
    return found;
  }

  private static JsonNode json(CliHarness cli) {
    try {
      return JSON.readTree(cli.out());
    } catch (IOException e) {
      throw new AssertionError(cli.out(), e);
    }
  }

  /** Runs {@code eventbus registry} against a bus, and checks the exit code. */
  private static CliHarness run(BusServer bus, int code, String... arguments) {
    CliHarness cli = new CliHarness();
    cli.variables.put("EVENTBUS_ADMIN_URL", "http://127.0.0.1:" + bus.adminPort());
    List<String> line = new ArrayList<>(List.of("registry"));
    line.addAll(List.of(arguments));
    int got = cli.run(line.toArray(new String[0]));
    assertThat(got).as(cli.out() + cli.err()).isEqualTo(code);
    return cli;
  }

  private static CliHarness offline(
      int code, String stdin, Map<String, String> settings, String... arguments) {
    CliHarness cli = new CliHarness();
    cli.stdin = stdin;
    List<String> line = new ArrayList<>(List.of("registry"));
    line.addAll(List.of(arguments));
    settings.forEach((key, value) -> line.addAll(List.of("--set", key + "=" + value)));
    int got = cli.run(line.toArray(new String[0]));
    assertThat(got).as(cli.out() + cli.err()).isEqualTo(code);
    return cli;
  }

  @Test
  void aClusterIsShownAndChanged() throws Exception {
    BusServer a = start("bus-a");
    BusServer b = start("bus-b", a);
    BusServer c = start("bus-c", a);
    BusServer d = start("bus-d", a);
    until("three vote", () -> with(a, "VOTER").size() == 2 && with(a, "LISTENER").size() == 1);
    String leader = with(a, "LEADER").get(0);
    assertThat(run(b, 0, "leader").out()).isEqualTo(leader + "\n");
    assertThat(run(c, 0, "members").out())
        .startsWith("BUS    ROLE")
        .contains(leader + "  LEADER    UP")
        .contains("127.0.0.1:" + b.linkPort());
    assertThat(run(a, 0, "status").out()).containsPattern("leader +" + leader).contains("p99");
    assertThat(json(run(a, 0, "status", "--json")).path("log").path("bytes").asLong()).isPositive();

    String listener = with(a, "LISTENER").get(0);
    String voter = with(a, "VOTER").get(0);
    assertThat(run(d, ExitCode.REFUSED, "transfer", listener).err())
        .startsWith("eventbus: refused: bus " + listener + " has no vote");
    assertThat(run(d, 0, "promote", listener, "--instead-of", voter).out())
        .isEqualTo("Bus " + listener + " votes.\n");
    until("the vote has moved", () -> with(b, "LISTENER").equals(List.of(voter)));
    assertThat(run(b, 0, "demote", listener).out()).contains("votes no more");
    until("it is back", () -> with(a, "LISTENER").equals(List.of(listener)));
    assertThat(run(b, 0, "transfer", voter).out()).isEqualTo("Bus " + voter + " leads.\n");
    until("it leads", () -> run(c, 0, "leader").out().equals(voter + "\n"));
    assertThat(run(c, ExitCode.REFUSED, "remove", listener).err()).contains("expected: DOWN");
    assertThat(run(c, 0, "snapshot").out()).startsWith("There is a snapshot up to entry ");

    CliHarness watch = new CliHarness();
    watch.variables.put("EVENTBUS_ADMIN_URL", "http://127.0.0.1:" + a.adminPort());
    CompletableFuture<Integer> watching =
        CompletableFuture.supplyAsync(() -> watch.run("registry", "watch", "-n", "2"));
    until("it watches", () -> watch.err().contains("watching the registry from version"));
    start("bus-e", a);
    assertThat(watching.get(60, TimeUnit.SECONDS)).isZero();
    assertThat(watch.out()).contains("bus bus-e (5): registered").contains("JOINING -> UP");
  }

  @Test
  void aBackupFoundsAnotherCluster() throws Exception {
    BusServer a = start("bus-a");
    Path file = root.resolve("registry.backup");
    assertThat(run(a, 0, "backup", file.toString()).out()).contains("1 buses, 0 topics");
    assertThat(run(a, ExitCode.USAGE, "backup", file.toString()).err())
        .contains("is there already (expected: a new file)");
    a.close();

    Path directory = root.resolve("restored");
    Map<String, String> settings = settings(directory, "bus-r");
    String told = offline(0, "", settings, "restore", file.toString()).out();
    assertThat(told).contains("1 buses, which are DOWN", "Start bus bus-r.");
    assertThat(offline(ExitCode.FAILED, "", settings, "restore", file.toString()).err())
        .contains("is not empty (expected: empty, or not there; nothing was changed)");
    BusServer restored = BusServer.start(ServerConfig.of(settings));
    buses.add(restored);
    until("it is UP", () -> states(restored).contains("bus-r=UP"));
    assertThat(states(restored)).contains("bus-a=DOWN");

    byte[] damaged = Files.readAllBytes(file);
    damaged[damaged.length / 2] ^= 1;
    Files.write(file, damaged);
    assertThat(
            offline(
                    ExitCode.FAILED,
                    "",
                    settings(root.resolve("other"), "bus-x"),
                    "restore",
                    file.toString())
                .err())
        .contains("checksum");
    assertThat(root.resolve("other")).doesNotExist();
  }

  @Test
  void aLostMajorityIsGivenUpOnlyWhenThatIsConfirmed() throws Exception {
    BusServer a = start("bus-a");
    Map<String, String> settings = settings(root.resolve("bus-a"), "bus-a");
    assertThat(offline(ExitCode.FAILED, "", settings, "recover").err())
        .contains("another process uses it");
    a.close();

    assertThat(offline(0, "", settings, "recover", "--dry-run").out())
        .contains("voters      bus-a", "1 buses, 0 topics", "last entry  term ");
    CliHarness refused = offline(ExitCode.USAGE, "yes\n", settings, "recover");
    assertThat(refused.err())
        .contains("WARNING", "is LOST", "type the name of the cluster (eventbus)")
        .contains("not confirmed (expected: the name of the cluster, eventbus); nothing");
    assertThat(offline(0, "eventbus\n", settings, "recover").out())
        .contains("as its only voter", "The old files are in ");
    BusServer again = BusServer.start(ServerConfig.of(settings));
    buses.add(again);
    until("it is UP", () -> states(again).contains("bus-a=UP"));
    assertThat(json(run(again, 0, "members", "--json")).path("items").get(0).path("number").asInt())
        .as("no number is given out twice")
        .isGreaterThan(65_536);
  }
}
