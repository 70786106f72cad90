package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.server.BusServer;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.samples.TestKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Durable topics with {@code eventbus publish} and {@code eventbus subscribe}. */
@Timeout(180)
class DurableCommandIT {
  private BusServer bus;
  private Path directory;

  @BeforeEach
  void start(@TempDir Path files) throws Exception {
    directory = files;
    bus =
        BusServer.start(
            ServerConfig.of(
                Map.of(
                    "listen.host",
                    "127.0.0.1",
                    "listen.port",
                    "0",
                    "listen.event-loops",
                    "2",
                    "admin.port",
                    "0",
                    "durable.directory",
                    files.resolve("data").toString(),
                    "durable.journals",
                    "orders orders.>, prices prices.> keep=latest",
                    "auth.resume-key-file",
                    TestKey.FILE.toString())));
  }

  @AfterEach
  void stop() {
    bus.close();
  }

  /** Returns the lines that a command has written. */
  private List<String> run(int expected, String... arguments) {
    CliHarness cli = new CliHarness();
    List<String> all = new ArrayList<>(Arrays.asList(arguments));
    all.add("--url=" + bus.uri());
    assertThat(cli.run(all.toArray(new String[0]))).as(cli.err()).isEqualTo(expected);
    return cli.out().lines().toList();
  }

  private List<String> payloads(String... arguments) {
    List<String> all = new ArrayList<>(List.of("subscribe", "--output=raw", "--timeout=60s"));
    all.addAll(Arrays.asList(arguments));
    return run(ExitCode.OK, all.toArray(new String[0]));
  }

  @Test
  void confirmationsTellPositions() throws Exception {
    List<JsonNode> confirmed = new ArrayList<>();
    for (String line : run(ExitCode.OK, "publish", "orders.1", "a", "b", "--output=jsonl")) {
      confirmed.add(new ObjectMapper().readTree(line));
    }
    assertThat(confirmed)
        .extracting(each -> each.path("position").asLong())
        .containsExactly(1L, 2L);
    assertThat(confirmed.get(0).path("topic").asText()).isEqualTo("orders.1");
    assertThat(confirmed.get(0).has("receivers")).isFalse();
  }

  @Test
  void anExpectationIsKept() {
    run(ExitCode.OK, "publish", "orders.1", "a", "--expect=0");
    run(ExitCode.FAILED, "publish", "orders.1", "b", "--expect=0");
    run(ExitCode.OK, "publish", "orders.1", "b", "--expect=1");
    run(ExitCode.USAGE, "publish", "orders.1", "b", "c", "--expect=1");
    run(ExitCode.USAGE, "publish", "orders.1", "b", "--delay=-1s");
    run(ExitCode.USAGE, "publish", "orders.1", "b", "--ttl=1s", "--no-confirm");
    run(ExitCode.FAILED, "publish", "other", "b", "--ttl=1s");
  }

  @Test
  void whatIsPublishedAgainUnderANameIsStoredOnce() throws Exception {
    run(ExitCode.OK, "publish", "orders.1", "a", "b", "--producer=outbox", "--number=41");
    List<String> again = new ArrayList<>();
    for (String line :
        run(
            ExitCode.OK,
            "publish",
            "orders.1",
            "a",
            "b",
            "c",
            "--producer=outbox",
            "--number=41",
            "--output=jsonl")) {
      JsonNode confirmed = new ObjectMapper().readTree(line);
      again.add(confirmed.path("position").asLong() + " " + confirmed.path("repeated").asBoolean());
    }
    assertThat(again).containsExactly("1 true", "2 true", "3 false");
    assertThat(payloads("orders.>", "--from=first", "--count=3")).containsExactly("a", "b", "c");
    run(ExitCode.FAILED, "publish", "orders.1", "x", "--producer=outbox", "--number=40");
    run(ExitCode.FAILED, "publish", "other", "x", "--producer=outbox", "--number=1");
    run(ExitCode.USAGE, "publish", "orders.1", "x", "--producer=outbox");
    run(ExitCode.USAGE, "publish", "orders.1", "x", "--number=1");
    run(ExitCode.USAGE, "publish", "orders.1", "x", "--producer=outbox", "--number=0");
    run(ExitCode.USAGE, "publish", "orders.1", "x", "--producer=a/b", "--number=1");
    run(ExitCode.USAGE, "publish", "orders.1", "x", "--producer=p", "--number=1", "--no-confirm");
  }

  @Test
  void aDurableSubscriptionSettlesWhatIsWritten() {
    String[] billing = {"orders.>", "--durable=billing", "--from=first", "--count=2"};
    run(ExitCode.OK, "publish", "orders.1", "a", "b", "c", "d", "e");
    assertThat(payloads(billing)).containsExactly("a", "b");
    assertThat(payloads(billing)).containsExactly("c", "d");
    assertThat(payloads("orders.>", "--durable=billing", "--count=1")).containsExactly("e");
    assertThat(payloads("orders.>", "--from=position:2", "--count=3"))
        .containsExactly("b", "c", "d");
    assertThat(payloads("orders.>", "--from=time:2026-01-01T00:00:00Z", "--count=1"))
        .containsExactly("a");
  }

  @Test
  void subscribersInSharedModeSettleEachEvent() {
    String[] queue = {"orders.>", "--durable=queue", "--mode=shared", "--from=first", "--count=2"};
    run(ExitCode.OK, "publish", "orders.1", "a", "b", "c", "d");
    List<String> all = new ArrayList<>(payloads(queue));
    all.addAll(payloads(queue));
    assertThat(all).containsExactlyInAnyOrder("a", "b", "c", "d");
    run(ExitCode.FAILED, "subscribe", "orders.>", "--durable=queue", "--count=1");
    run(ExitCode.USAGE, "subscribe", "orders.>", "--mode=shared");
  }

  @Test
  void theEventsOfAJournalGoIntoAFileAndBack() {
    String backup = directory.resolve("orders.avro").toString();
    run(ExitCode.OK, "publish", "orders.1", "a", "b", "--key=k", "--header=type=text");
    run(ExitCode.OK, "publish", "orders.2", "c");
    run(ExitCode.OK, "journal", "backup", "orders", backup);
    run(ExitCode.USAGE, "journal", "backup", "orders", backup);
    run(ExitCode.FAILED, "journal", "backup", "none", directory.resolve("none.avro").toString());
    run(ExitCode.FAILED, "journal", "backup", "prices", backup + ".2", "--timeout=200ms");
    assertThat(directory.resolve("none.avro.part")).doesNotExist();
    assertThat(directory.resolve("orders.avro.2")).doesNotExist();

    run(ExitCode.OK, "journal", "restore", backup);
    // The command that is repeated stores nothing.
    run(ExitCode.OK, "journal", "restore", backup);
    run(ExitCode.OK, "publish", "orders.2", "last");
    List<String> events =
        run(ExitCode.OK, "subscribe", "orders.>", "--from=position:4", "--count=4");
    assertThat(events)
        .extracting(
            line ->
                line.replaceAll(".*\"(topic)\":\"([^\"]+)\".*\"payload\":\"([^\"]+)\".*", "$2 $3"))
        .containsExactly("orders.1 a", "orders.1 b", "orders.2 c", "orders.2 last");
    assertThat(events.get(0)).contains("\"key\":\"k\"", "\"type\":\"text\"");
  }

  @Test
  void aFileThatIsNoBackupIsNotRestored() throws Exception {
    Path file = directory.resolve("orders.avro");
    run(ExitCode.USAGE, "journal", "restore", file.toString());
    Files.writeString(file, "no backup");
    run(ExitCode.USAGE, "journal", "restore", file.toString());
    run(ExitCode.OK, "publish", "orders.1", "a".repeat(100_000), "b", "c");
    Path damaged = directory.resolve("damaged.avro");
    run(ExitCode.OK, "journal", "backup", "orders", damaged.toString());
    byte[] bytes = Files.readAllBytes(damaged);
    // Ends within the last block.
    Files.write(damaged, Arrays.copyOf(bytes, bytes.length - 17));
    run(ExitCode.USAGE, "journal", "restore", damaged.toString());
    bytes[bytes.length - 20] ^= 1;
    Files.write(damaged, bytes);
    run(ExitCode.USAGE, "journal", "restore", damaged.toString());
  }

  @Test
  void aWorkerRunsACommandForEachEvent() {
    String[] work = {"work", "billing", "--filter=orders.>", "--from=first"};
    run(ExitCode.OK, "publish", "orders.1", "a", "b", "c", "d");
    Path out = directory.resolve("out");
    run(
        ExitCode.OK,
        with(work, "--count=3", "--exec={ cat; echo \" $EVENTBUS_POSITION\"; } >> " + out));
    assertThat(out).content().hasLineCount(3).contains("a 1", "b 2", "c 3");
    CliHarness cli = new CliHarness();
    assertThat(
            cli.run(
                with(
                    work,
                    "--count=1",
                    "--exec=echo no such order >&2; exit 65",
                    "--url=" + bus.uri())))
        .as(cli.err())
        .isEqualTo(ExitCode.OK);
    assertThat(cli.err()).contains("no such order", "1 rejected");
    run(ExitCode.USAGE, with(work, "--exec=true", "--concurrency=0"));
    run(ExitCode.USAGE, with(work, "--exec=true", "--from=nowhere"));
  }

  private static String[] with(String[] command, String... more) {
    List<String> all = new ArrayList<>(List.of(command));
    all.addAll(List.of(more));
    return all.toArray(new String[0]);
  }

  @Test
  void latestValuesAreTheLastOfEachTopic() {
    run(ExitCode.OK, "publish", "prices.1", "a", "b");
    run(ExitCode.OK, "publish", "prices.2", "c");
    assertThat(payloads("prices.*", "--from=latest-values", "--count=2")).containsExactly("b", "c");
  }

  @Test
  void whatDoesNotFitTogetherIsRefused() {
    run(ExitCode.USAGE, "subscribe", "orders.>", "--from=yesterday");
    run(ExitCode.USAGE, "subscribe", "orders.>", "--from=position:x");
    run(ExitCode.USAGE, "subscribe", "orders.>", "prices.>", "--durable=billing");
    run(ExitCode.USAGE, "subscribe", "orders.>", "--durable=billing", "--group=g");
    run(ExitCode.USAGE, "subscribe", "orders.>", "--durable=billing", "--overflow=BLOCK");
    run(ExitCode.FAILED, "subscribe", "orders.>", "--from=latest-values");
    run(ExitCode.FAILED, "subscribe", "nothing.>", "--from=first");
  }
}
