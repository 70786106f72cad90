package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.config.ConfigLoader;
import io.eventbus.server.config.ServerConfig;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class CommandRunnerTest {
  private final CliHarness cli = new CliHarness();

  @Test
  void helpIsAResultAndNamesCommandsAndExitCodes() {
    assertThat(cli.run("--help")).isZero();
    assertThat(cli.out())
        .contains("serve", "publish", "subscribe", "demo", "config", "version")
        .contains("generate-completion", "Exit codes:", "no bus could be reached")
        .doesNotContain("\033[");
    assertThat(cli.err()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "request a.*, SERVICE",
    "request $SYS.x, SERVICE",
    "request a x --file y, both as an argument and as a file",
    "request a --count 0, --count: 0",
    "request a --concurrency 0, --concurrency: 0",
    "request a --timeout 0s, timeout",
    "request a --priority URGENT, --priority",
    "respond a, --echo",
    "respond a --echo --exec cat, --echo",
    "respond a.> --echo, SERVICE",
    "respond a --echo --concurrency 0, concurrency",
    "request a x --all --count 2, --count",
    "broadcast $bus x, SERVICE",
    "services a.>, SERVICE",
    "respond a --forward nowhere, --forward",
    "respond a --forward host:0, --forward",
    "tunnel a --listen x, --listen",
    "tunnel a --listen 1:65536, --listen",
    "tunnel a.>, SERVICE",
    "tunnel a --connections 0, --connections"
  })
  void wrongCommandsOfServicesSayWhatIsWrong(String command, String says) {
    assertThat(cli.run(command.split(" ", -1))).isEqualTo(2);
    assertThat(cli.err()).contains(says);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "serve",
        "publish",
        "subscribe",
        "work",
        "request",
        "broadcast",
        "respond",
        "services",
        "tunnel",
        "bench",
        "demo",
        "config check",
        "config print",
        "config reference",
        "permissions test",
        "permissions list",
        "registry status",
        "registry members",
        "registry leader",
        "registry watch",
        "registry transfer",
        "registry add",
        "registry remove",
        "registry promote",
        "registry demote",
        "registry snapshot",
        "registry backup",
        "registry restore",
        "registry recover",
        "buses",
        "drain",
        "move",
        "revoke",
        "journal",
        "journal create",
        "journal change",
        "journal list",
        "journal show",
        "journal lag",
        "journal trim",
        "journal purge",
        "journal dead",
        "journal redrive",
        "journal delete",
        "whoami",
        "hash-password",
        "version"
      })
  void everyCommandHasHelp(String command) {
    assertThat(cli.run((command + " --help").split(" ", -1))).isZero();
    assertThat(cli.out()).startsWith("Usage: eventbus " + command).contains("--debug");
  }

  @ParameterizedTest
  @CsvSource({
    "'', 0 1 2 3 4 5 6 130",
    "serve, 0 1 2 130",
    "publish, 0 1 2 3 130",
    "subscribe, 0 1 2 3 130",
    "request, 0 1 2 3 6 130",
    "respond, 0 1 2 3 130",
    "tunnel, 0 1 2 3 6 130",
    "demo, 0 1 2 4 130",
    "config check, 0 2",
    "version, 0 2",
    "permissions test, 0 1 2",
    "permissions list, 0 2",
    "registry members, 0 1 2 3 5 130",
    "registry restore, 0 1 2 130",
    "drain, 0 1 2 3 5 130",
    "revoke, 0 1 2 3 5 130",
    "journal trim, 0 1 2 3 5 130",
    "whoami, 0 1 2 3 130",
    "broadcast, 0 1 2 3 130",
    "services, 0 1 2 3 6 130",
    "hash-password, 0 1 2"
  })
  void helpListsTheExitCodesOfTheCommand(String command, String codes) {
    assertThat(cli.run((command + " --help").strip().split(" ", -1))).isZero();
    List<String> listed =
        cli.out()
            .lines()
            .dropWhile(line -> !line.equals("Exit codes:"))
            .skip(1)
            .takeWhile(line -> line.matches(" *\\d+ .*"))
            .map(line -> line.strip().replaceAll(" .*", ""))
            .toList();
    assertThat(String.join(" ", listed)).isEqualTo(codes);
  }

  @Test
  void theFlagsOfABusAreListedByWhatTheyAreAbout() {
    assertThat(cli.run("serve", "--help")).isZero();
    assertThat(cli.out())
        .startsWith("Usage: eventbus serve [OPTIONS]")
        .containsSubsequence(
            "Options:",
            "--config",
            "--set",
            "The bus and its clients:",
            "--port",
            "--tls-key",
            "Cluster:",
            "--join",
            "Administration and log:",
            "--admin-port",
            "--log-format",
            "Exit codes:")
        .doesNotContain("--end-with");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        " '' | a command is missing",
        "serv | Did you mean: eventbus serve",
        "serve --prot 1 | Unknown option",
        "serve extra | Unmatched argument",
        "foo | \"foo\" is no command (expected: serve, publish, subscribe, work, request, broadcast,"
            + " respond,",
        "registry foo | \"foo\" is no command (expected: status, members, leader,",
        "'' | (expected: serve, publish,",
        "publish a b --rate 1/s | \"1/s\" (expected: a number such as 0.5)",
        "subscribe a --count x | \"x\" (expected: a whole number)",
        "demo --buses x | \"x\" (expected: a whole number)",
        "move x | \"x\" (expected: a whole number)",
        "config | check, print or reference is missing",
        "config reference limit.x | no key begins with \"limit.x\"",
        "publish | TOPIC",
        "publish a b --file c | both as arguments and as a file",
        "publish a b --rate -1 | --rate: -1.0 (expected: 0 to 1000000000)",
        "publish a b --header x | --header",
        "publish a b --timeout 5 | expected: a time span",
        "publish a b --url http://localhost/bus | expected: ws://",
        "publish a b --url ::: | eventbus: ",
        "publish a b --ca /nonexistent.pem | expected: a PEM file",
        "subscribe | FILTER",
        "subscribe a --count 0 | --count: 0 (expected: 1 or more)",
        "subscribe a --output xml | --output",
        "subscribe a --overflow never | BLOCK",
        "bench --subscribers 0 | --subscribers: 0 (expected: 1 to 1000)",
        "bench --payload 15 | --payload: 15 (expected: 16 to 1048576)",
        "bench --rate -1 | --rate: -1 (expected: 0 to 10000000)",
        "bench --duration 99ms | --duration: 99 ms (expected: 100 to 3600000 ms)",
        "bench --warm-up 11m | --warm-up: 660000 ms (expected: 0 to 600000 ms)",
        "bench --in-flight 0 | --in-flight: 0 (expected: 1 to 100000)",
        "bench --in-flight 17 --payload 1048576 | expected: at most 16777216 bytes together",
        "bench --overflow never | BLOCK",
        "bench --output xml | --output",
        "bench extra | Unmatched argument",
        "registry | a command is missing: status, members, leader",
        "registry membres | Did you mean: registry members",
        "registry transfer | BUS",
        "registry transfer _ | busId",
        "registry members --admin ftp://x | --admin: ftp://x (expected: host:port or a URL)",
        "registry members --admin ::: | --admin",
        "registry watch --count 0 | --count: 0 (expected: 1 or more)",
        "registry backup pom.xml | pom.xml is there already (expected: a new file)",
        "demo --duration 10ms | expected: 1s to 1h",
        "serve --port 70000 | listen.port: 70000 (expected: 0 to 65535), from flag --port",
        "serve --set lisen.port=1 | the nearest is listen.port",
        "serve --set foo=1 | foo: unknown key (expected: a known one; eventbus config print shows"
            + " all), from",
        "serve --set port=1 | eventbus config print shows all",
        "serve --config /nonexistent | /nonexistent: not found",
        "serve --join bus-2 | cluster.join: \"bus-2\" (expected: addresses such as",
        "serve --join bus-2:8082 | anybody could become a member), from flag --join",
        "config check --cluster-directory d --set cluster.secret-file=/nonexistent |"
            + " cluster.secret-file: \"/nonexistent\" cannot be read",
        "config check --tls-key a | tls.certificate: none",
        "config check --tls-key a --tls-certificate b | tls.certificate: b (expected: a readable"
            + " file)"
      })
  void wrongUseIsCode2WithALine(String line, String message) {
    assertThat(cli.run(line.isEmpty() ? new String[0] : line.split(" ", -1)))
        .isEqualTo(ExitCode.USAGE);
    assertThat(cli.err()).startsWith("eventbus: ").contains(message).doesNotContain("\tat ");
    assertThat(cli.out()).isEmpty();
  }

  @Test
  void versionNamesEverything() {
    assertThat(cli.run("version")).isZero();
    assertThat(cli.out()).matches("eventbus \\d+\\.\\d+\\.\\d+\\S*\nprotocol \\S+\njava .*\n");
  }

  @Test
  void completionScriptKnowsTheCommands() {
    assertThat(cli.run("generate-completion")).isZero();
    assertThat(cli.out()).startsWith("#!").contains("subscribe", "--overflow", "--port");
  }

  @ParameterizedTest
  @EnumSource
  void everyFlagOfTheTableIsAnOption(ConfigKey key) {
    if (!key.flag().isEmpty()) {
      for (String command : new String[] {"serve", "config print", "config check"}) {
        CliHarness harness = new CliHarness();
        assertThat(harness.run((command + " --help").split(" ", -1))).isZero();
        assertThat(harness.out()).as(command).contains(key.flag());
      }
    }
  }

  @Test
  void configPrintShowsOriginsAndHidesSecrets() {
    cli.variables.put("EVENTBUS_AUTH_TOKEN", "open-sesame");
    assertThat(cli.run("config", "print", "--port", "9", "--compression")).isZero();
    assertThat(cli.out().replaceAll(" +", " "))
        .contains("listen.port 9 flag --port\n")
        .contains("compression.enabled true flag --compression\n")
        .contains("auth.token *** variable EVENTBUS_AUTH_TOKEN\n")
        .contains("listen.host 0.0.0.0 default\n")
        .doesNotContain("sesame");
  }

  @ParameterizedTest
  @ValueSource(strings = {"table", "properties", "json"})
  void configPrintShowsNoSecretWherever(String format, @TempDir Path directory) throws Exception {
    Path file =
        Files.writeString(
            directory.resolve("bus.properties"), "cluster.secret = marked-secret-of-file\n");
    cli.variables.put("EVENTBUS_ADMIN_TOKEN", "marked-secret-of-variable");
    assertThat(
            cli.run(
                "config",
                "print",
                "-o",
                format,
                "-c",
                file.toString(),
                "--set",
                "auth.token=marked-secret-of-flag"))
        .isZero();
    assertThat(cli.out() + cli.err()).contains("***").doesNotContain("marked");
  }

  @Test
  void configCheckNamesTodaysNameOfARenamedKey() {
    assertThat(cli.run("config", "check", "--set", "balance.hops=3")).isZero();
    assertThat(cli.out())
        .contains("balance.hops, from flag --set: renamed; use balance.max-moves-per-minute, ")
        .endsWith("A bus would start with the configuration, but see above.\n");
  }

  @Test
  void configReferenceExplainsKeysThatBeginAlike() {
    assertThat(cli.run("config", "reference", "limits.address-memory")).isZero();
    assertThat(cli.out())
        .startsWith("Limits per address: ")
        .contains("\nlimits.address-memory-percent: default 25; 1 to 100\n    Percent that ")
        .doesNotContain("`", "limits.address-connections");
  }

  @Test
  void configReferenceExplainsEveryKey() {
    assertThat(cli.run("config", "reference")).isZero();
    for (ConfigKey key : ConfigKey.values()) {
      assertThat(cli.out())
          .containsOnlyOnce("\n" + key.key() + (key.flag().isEmpty() ? ":" : " ("));
    }
    assertThat(cli.out()).contains("\nlisten.port (--port): default 8080; ").doesNotContain("](");
  }

  @Test
  void configPrintAsJson() throws Exception {
    assertThat(cli.run("config", "print", "-o", "json", "--set", "limits.headers=7")).isZero();
    var json = new ObjectMapper().readTree(cli.out());
    assertThat(json.size()).isEqualTo(ConfigKey.values().length);
    assertThat(json.path("limits.headers").path("value").asText()).isEqualTo("7");
    assertThat(json.path("limits.headers").path("origin").asText()).isEqualTo("flag --set");
  }

  @Test
  void configPrintedAsPropertiesIsAConfigFile(@TempDir Path directory) throws Exception {
    String[] print = {"config", "print", "-o", "properties", "--name", "b", "--port", "9"};
    assertThat(cli.run(print)).isZero();
    Path file = Files.writeString(directory.resolve("bus.properties"), cli.out());
    ServerConfig config = new ConfigLoader().file(file).load().config();
    assertThat(config.listen().port()).isEqualTo(9);
    CliHarness other = new CliHarness();
    other.variables.put("EVENTBUS_CONFIG", file.toString());
    assertThat(other.run("config", "check")).isZero();
    assertThat(other.out()).isEqualTo("The configuration is good.\n");
  }

  @Test
  void aBusThatCannotStartIsCode1() {
    cli.launcher =
        config -> {
          throw new IOException("Address already in use");
        };
    assertThat(cli.run("serve")).isEqualTo(ExitCode.FAILED);
    assertThat(cli.err())
        .startsWith("eventbus: The bus cannot start: ")
        .contains("Address already in use")
        .doesNotContain("\tat ");
  }

  @Test
  void aBusThatFailsIsCode1() {
    cli.failure.complete("event loop 1 has ended");
    assertThat(cli.run("serve")).isEqualTo(ExitCode.FAILED);
    assertThat(cli.err())
        .contains("eventbus: The bus has failed")
        .contains("event loop 1 has ended")
        .doesNotContain("\tat ");
  }

  @Test
  void debugShowsStackTraces() {
    cli.launcher =
        config -> {
          throw new IOException("Address already in use");
        };
    assertThat(cli.run("serve", "--debug")).isEqualTo(ExitCode.FAILED);
    assertThat(cli.err()).contains("\tat io.eventbus.cli.");
  }

  @Test
  void brokenPipeIsQuiet() {
    cli.out =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    assertThat(cli.run("config", "print")).isZero();
    assertThat(cli.run("--help")).isZero();
    assertThat(cli.err()).isEmpty();
  }

  @Test
  void colourIsForTerminalsOfPeopleWhoWantIt() {
    cli.terminal = true;
    assertThat(cli.run("--help")).isZero();
    assertThat(cli.out()).contains("\033[");
    for (String variable : new String[] {"NO_COLOR", "TERM"}) {
      CliHarness plain = new CliHarness();
      plain.terminal = true;
      plain.variables.put(variable, "dumb");
      assertThat(plain.run("--help")).isZero();
      assertThat(plain.out()).as(variable).doesNotContain("\033[");
    }
  }
}
