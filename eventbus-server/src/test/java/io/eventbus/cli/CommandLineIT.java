package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.eventbus.cli.console.ExitCode;
import io.eventbus.testing.TestPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runnable jar, as processes: a bus, publishers and subscribers. */
@Timeout(180)
class CommandLineIT {
  private static final Pattern LISTENS =
      Pattern.compile("listens on (ws://\\S+), administration on (http://\\S+)");

  private static final String[] SERVE = {
    "serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0"
  };

  /** Bus of all tests but those that end a bus or start it otherwise. */
  private static @Nullable JarCommand shared;

  private static String url = "";

  private final Path directory;
  private final List<JarCommand> commands = new ArrayList<>();

  CommandLineIT(@TempDir Path directory) {
    this.directory = directory;
  }

  @BeforeAll
  static void startBus(@TempDir Path home) throws Exception {
    JarCommand bus = JarCommand.piped(home, "", SERVE);
    shared = bus;
    url = bus.awaitErr(LISTENS).group(1);
  }

  @AfterEach
  void stopAll() throws Exception {
    for (JarCommand command : commands) {
      command.end();
    }
  }

  @AfterAll
  static void stopBus() throws Exception {
    if (shared != null) {
      shared.end();
    }
  }

  @Test
  void publishedEventsAreReceived() throws Exception {
    JarCommand subscriber = start("subscribe", "a.>", "-u", url, "-n", "3", "-o", "raw");
    subscriber.awaitErr(Pattern.compile("subscribed to a.>"));
    JarCommand arguments = start("publish", "a.b", "one", "-u", url);
    assertThat(arguments.exitCode()).isZero();
    assertThat(arguments.err())
        .contains("1 event published to a.b, all confirmed")
        .doesNotContain("nobody");
    JarCommand unheard = start("publish", "b", "one", "-u", url);
    assertThat(unheard.exitCode()).isZero();
    assertThat(unheard.err())
        .contains("1 event published to b, all confirmed; nobody was subscribed");
    assertThat(startWithInput("two\nthr\u00e9e", "publish", "a.c", "-u", url).exitCode()).isZero();
    assertThat(subscriber.exitCode()).isZero();
    assertThat(subscriber.out().lines()).containsExactlyInAnyOrder("one", "two", "thr\u00e9e");
  }

  @Test
  void aWholeFileIsOneEvent() throws Exception {
    Path file = Files.write(directory.resolve("payload"), new byte[] {0, '\n', (byte) 0xff});
    JarCommand subscriber = start("subscribe", "a", "-u", url, "-n", "1", "-o", "jsonl");
    subscriber.awaitErr(Pattern.compile("subscribed to a"));
    assertThat(
            start("publish", "a", "-u", url, "--whole", "-f", file.toString(), "-k", "key")
                .exitCode())
        .isZero();
    assertThat(subscriber.exitCode()).isZero();
    assertThat(subscriber.out()).contains("\"payloadBase64\":\"AAr/\"", "\"key\":\"key\"");
  }

  @Test
  void aServiceIsServedAndCalled() throws Exception {
    JarCommand service = start("respond", "sort", "--exec", "sort", "-u", url, "-n", "2");
    service.awaitErr(Pattern.compile("serves sort"));
    JarCommand request = startWithInput("b\na\n", "request", "sort", "-f", "-", "-u", url);
    assertThat(request.exitCode()).isZero();
    assertThat(request.out()).isEqualTo("a\nb\n");
    assertThat(start("request", "sort", "one", "-u", url).exitCode()).isZero();
    assertThat(service.exitCode()).isZero();
    assertThat(service.err()).contains("2 requests answered, 0 failed");
    JarCommand none = start("request", "sort", "x", "-u", url);
    assertThat(none.exitCode()).isEqualTo(ExitCode.NOT_EXECUTED);
    assertThat(none.err()).contains("NoMember (not executed)");
  }

  @Test
  void manyRequestsMakeATable() throws Exception {
    JarCommand echo = start("respond", "echo", "--echo", "-u", url);
    echo.awaitErr(Pattern.compile("serves echo"));
    JarCommand fails = start("respond", "fails", "--exec", "exit 3", "-u", url);
    fails.awaitErr(Pattern.compile("serves fails"));
    JarCommand many = start("request", "echo", "x", "-n", "200", "-c", "8", "-u", url);
    assertThat(many.exitCode()).isZero();
    assertThat(many.out()).containsPattern("answered +200 +[0-9.]+ ");
    JarCommand failing = start("request", "fails", "x", "-n", "3", "-u", url);
    assertThat(failing.exitCode()).isEqualTo(ExitCode.FAILED);
    assertThat(failing.out()).containsPattern("FAILED \\(executed\\) +3 ");
  }

  @Test
  void allMembersOfAServiceAreAskedAndTold() throws Exception {
    JarCommand prints = start("respond", "room", "--print", "-u", url, "-n", "1");
    prints.awaitErr(Pattern.compile("serves room"));
    JarCommand one = start("respond", "room", "--echo", "-u", url);
    JarCommand other = start("respond", "room", "--echo", "-u", url);
    one.awaitErr(Pattern.compile("serves room"));
    other.awaitErr(Pattern.compile("serves room"));

    JarCommand all = start("request", "room", "here?", "--all", "-u", url);
    assertThat(all.exitCode()).isZero();
    assertThat(all.out().lines()).hasSize(2).allMatch(line -> line.endsWith("  here?"));
    JarCommand told = start("broadcast", "room", "to all", "-u", url);
    assertThat(told.exitCode()).isZero();
    assertThat(prints.exitCode()).isZero();
    assertThat(prints.out()).isEqualTo("to all\n");
    JarCommand services = start("services", "-u", url);
    assertThat(services.exitCode()).isZero();
    assertThat(services.out()).containsPattern("room +2 ");
    JarCommand members = start("services", "room", "-u", url);
    assertThat(members.out().lines()).hasSize(3);
  }

  @Test
  void failuresHaveTheirCodes() throws Exception {
    assertThat(start("publish", "a.*", "x", "-u", url).exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(start("subscribe", "a..b", "-u", url).exitCode()).isEqualTo(ExitCode.USAGE);
    JarCommand late = start("subscribe", "a", "-u", url, "-n", "1", "-t", "200ms");
    assertThat(late.exitCode()).isEqualTo(ExitCode.FAILED);
    // Port 1 belongs to a service that nobody runs any more.
    JarCommand nobody =
        start("publish", "a", "x", "-u", "ws://127.0.0.1:1/bus", "--connect-timeout", "300ms");
    assertThat(nobody.exitCode()).isEqualTo(ExitCode.NOT_CONNECTED);
    assertThat(nobody.err()).startsWith("eventbus: cannot connect to ws://127.0.0.1:1/bus");
    assertThat(nobody.err()).doesNotContain("\tat ");
  }

  @Test
  void aBusThatIsStartedALittleLaterIsWaitedFor() throws Exception {
    int port = TestPorts.find();
    JarCommand publish =
        start("publish", "a", "x", "-u", "127.0.0.1:" + port, "--connect-timeout", "50s");
    JarCommand later =
        start("serve", "--host", "127.0.0.1", "--port", String.valueOf(port), "--admin-port", "0");
    later.awaitErr(LISTENS);
    assertThat(publish.exitCode()).isZero();
  }

  @Test
  void aWrongTokenIsNotConnected() throws Exception {
    JarCommand closed =
        start(
            Stream.concat(Stream.of(SERVE), Stream.of("--set", "auth.token=right"))
                .toArray(String[]::new));
    String closedUrl = closed.awaitErr(LISTENS).group(1);
    assertThat(start("publish", "a", "x", "-u", closedUrl, "--token", "wrong").exitCode())
        .isEqualTo(ExitCode.NOT_CONNECTED);
    assertThat(start("publish", "a", "x", "-u", closedUrl, "--token", "right").exitCode()).isZero();
  }

  @Test
  void anInterruptEndsInOrder() throws Exception {
    assumeThat(ignoresInterrupts())
        .as("started in the background of a shell, whose programs ignore SIGINT")
        .isFalse();
    JarCommand subscriber = start("subscribe", "a", "-u", url);
    subscriber.awaitErr(Pattern.compile("subscribed to a"));
    subscriber.signal("INT");
    assertThat(subscriber.exitCode()).isEqualTo(130);
  }

  /** Returns whether this process, and therefore each that it starts, ignores SIGINT. */
  private static boolean ignoresInterrupts() throws IOException {
    Path status = Path.of("/proc/self/status");
    if (!Files.exists(status)) {
      return false;
    }
    String ignored =
        Files.readAllLines(status).stream()
            .filter(line -> line.startsWith("SigIgn:"))
            .findFirst()
            .orElseThrow()
            .substring("SigIgn:".length())
            .strip();
    // Signal 2 is the second bit.
    return (Long.parseUnsignedLong(ignored, 16) & 0b10) != 0;
  }

  @Test
  void aTerminatedBusEndsInOrder() throws Exception {
    JarCommand bus = start(SERVE);
    bus.awaitErr(LISTENS);
    bus.signal("TERM");
    assertThat(bus.exitCode()).isEqualTo(143);
    assertThat(bus.err()).contains("Stopping", "Stopped");
    assertThat(bus.out()).isEmpty();
  }

  @Test
  void aReaderThatLeavesIsNoError() throws Exception {
    JarCommand subscriber = start("subscribe", "a", "-u", url, "-o", "raw");
    subscriber.awaitErr(Pattern.compile("subscribed to a"));
    subscriber.closeOut();
    // A file cannot be a broken pipe, so this one has a pipe; the bus delivers until it notices.
    while (subscriber.isAlive()) {
      assertThat(start("publish", "a", "x", "-u", url).exitCode()).isZero();
    }
    assertThat(subscriber.exitCode()).isZero();
    assertThat(subscriber.err()).isEqualTo("eventbus: subscribed to a\n");
  }

  private JarCommand start(String... arguments) throws IOException {
    return startWithInput("", arguments);
  }

  private JarCommand startWithInput(String input, String... arguments) throws IOException {
    JarCommand command = JarCommand.piped(directory, input, arguments);
    commands.add(command);
    return command;
  }
}
