package io.eventbus.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.admin.AdminServer;
import io.eventbus.server.admin.FakeBus;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.config.AdminAccessConfig;
import io.eventbus.server.config.AdminConfig;
import io.eventbus.server.durable.FakeEvents;
import io.eventbus.server.durable.FakeJournals;
import io.eventbus.server.durable.FakeQuotas;
import io.eventbus.server.durable.JournalAdministration;
import io.eventbus.server.durable.JournalCluster;
import io.eventbus.server.security.PermissionPolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code eventbus journal}. */
@Timeout(180)
class JournalCommandTest {
  private final FakeBus bus = new FakeBus(0);
  private final FakeJournals journals = new FakeJournals();
  private final CliHarness cli = new CliHarness();
  private final AdminServer server;

  JournalCommandTest() throws Exception {
    bus.journals(
        new JournalAdministration(
            journals, JournalCluster.ALONE, new FakeQuotas().quotas, advisory -> {}, () -> {}));
    server =
        AdminServer.start(
            new AdminConfig(true, "127.0.0.1", 0, List.of(), AdminAccessConfig.open()),
            bus::health,
            new Advisories(),
            200);
    server.serve(bus, List.of(), PermissionPolicy.NOTHING);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  /** Returns the output. */
  private String journal(int expected, String... options) {
    List<String> all = new ArrayList<>(List.of("journal"));
    all.addAll(Arrays.asList(options));
    all.add("--admin=127.0.0.1:" + server.port());
    cli.stdout.reset();
    assertThat(cli.run(all.toArray(new String[0]))).as(cli.err()).isEqualTo(expected);
    return cli.out();
  }

  private List<String> words(String... options) {
    return journal(0, options).lines().map(line -> line.replaceAll(" +", " ").strip()).toList();
  }

  @Test
  void aJournalIsCreatedListedChangedAndDeleted() throws Exception {
    assertThat(
            journal(
                0,
                "create",
                "orders",
                "--filter=orders.>",
                "--filter=billing.*",
                "--max-age=7d",
                "--max-bytes=10GiB"))
        .isEqualTo("Journal orders keeps events.\n");
    journal(0, "create", "prices", "--account=acme", "--filter=prices.>", "--keep=latest");
    assertThat(words("list"))
        .containsExactly(
            "ACCOUNT JOURNAL KEEP MAX AGE MAX BYTES MAX EVENTS FILTERS",
            "orders all 7d 10737418240 - orders.> billing.*",
            "acme prices latest - - - prices.>");
    assertThat(words("list", "--account=acme")).hasSize(2);
    assertThat(
            new ObjectMapper()
                .readTree(journal(0, "list", "--account=", "--json"))
                .path("name")
                .asText())
        .isEqualTo("orders");
    journal(0, "change", "orders", "--filter=orders.>", "--max-events=5", "--full=refuse");
    assertThat(words("show", "orders"))
        .contains("filters orders.>", "max age 7d", "max events 5", "full refuse", "events 0");
    assertThat(journal(0, "delete", "orders")).isEqualTo("Journal orders is deleted.\n");
    assertThat(words("list")).hasSize(2);
  }

  @Test
  void eventsAreRemovedAndLagIsShown() {
    journal(0, "create", "orders", "--filter=orders.>");
    for (int i = 1; i <= 3; i++) {
      FakeEvents.publish(journals, 1, "orders.eu", i, "eu-" + i);
      FakeEvents.publish(journals, 1, "orders.us", i, "us-" + i);
    }
    journals.createCursor(
        1, "audit", TopicFilter.parse("orders.eu"), CursorMode.EXCLUSIVE, CursorStart.FIRST, 0);
    assertThat(words("lag", "orders").get(1))
        .matches("audit orders.eu 0 6 1970-01-01T\\S+ EXCLUSIVE 0 0 0 0 1970\\S+");
    assertThat(journal(0, "purge", "orders", "--topic=orders.us"))
        .isEqualTo("3 events are removed.\n");
    assertThat(journal(0, "purge", "orders", "--from=1", "--to=2"))
        .isEqualTo("1 event is removed.\n");
    assertThat(journal(0, "trim", "orders", "--up-to=4"))
        .isEqualTo("Journal orders begins at position 5.\n");
    assertThat(words("show", "orders")).contains("positions 5 to 6", "events 1");
  }

  @Test
  void whatIsInFlightOrWaitsIsListed() {
    journal(0, "create", "orders", "--filter=orders.>");
    FakeEvents.retryTwo(journals, 1, "work");
    assertThat(words("consumers", "orders", "--durable=work"))
        .containsExactly("NUMBER BUS EVENTS OLDEST", "2 bus 3 3");
    assertThat(words("waiting", "orders", "--durable=work").get(0))
        .isEqualTo("FROM TO ATTEMPT DUE");
    assertThat(words("waiting", "orders", "--durable=work").get(1))
        .matches("1 1 2 1970-01-01T00:01:\\S+");
  }

  @Test
  void deadEventsAreListedAndGivenOutAgain() throws Exception {
    journal(0, "create", "orders", "--filter=orders.>", "--account=acme");
    FakeEvents.reject(journals, 1, "work", 1_205, "no stock");
    String[] dead = {"dead", "orders", "--account=acme", "--durable=work"};
    // More than a page.
    assertThat(words(dead)).hasSize(1 + 1_205);
    assertThat(words(dead).get(0)).isEqualTo("POSITION ATTEMPTS TIME REASON");
    assertThat(words(dead).get(1_205)).matches("1205 1 1970-01-01T\\S+ no stock");
    assertThat(redrive("--from=11", "--to=1204", "--discard"))
        .isEqualTo("1194 events were discarded.\n");
    assertThat(redrive("--from=1205", "--discard")).isEqualTo("1 event was discarded.\n");
    assertThat(redrive("--to=1")).isEqualTo("1 event is given out again.\n");
    assertThat(
            new ObjectMapper()
                .readTree(
                    journal(0, "dead", "orders", "--account=acme", "--durable=work", "--json")
                        .lines()
                        .findFirst()
                        .orElseThrow())
                .path("position")
                .asLong())
        .isEqualTo(2);
    assertThat(redrive()).isEqualTo("9 events are given out again.\n");
    assertThat(redrive("--json")).isEqualTo("{\"events\":0}\n");
    assertThat(words(dead)).hasSize(1);
    journals.createCursor(
        1, "audit", TopicFilter.parse("orders.eu"), CursorMode.EXCLUSIVE, CursorStart.FIRST, 0);
    journal(5, "redrive", "orders", "--account=acme", "--durable=audit");
    assertThat(cli.err()).contains("audit is not shared (expected: a shared durable subscription)");
    journal(1, "dead", "orders", "--account=acme", "--durable=other");
    assertThat(cli.err()).contains("durable: other (expected: ");
    journal(2, "dead", "orders");
    journal(2, "redrive", "orders");
  }

  private String redrive(String... options) {
    List<String> all = new ArrayList<>(List.of("redrive", "orders", "--account=acme"));
    all.add("--durable=work");
    all.addAll(Arrays.asList(options));
    return journal(0, all.toArray(new String[0]));
  }

  @Test
  void errorsAreReported() {
    journal(2, "create", "orders");
    journal(2, "create", "orders", "--filter=a", "--max-bytes=much");
    assertThat(cli.err()).contains("--max-bytes: \"much\" (expected: a size such as");
    journal(0, "create", "orders", "--filter=a");
    journal(5, "create", "more", "--filter=*");
    assertThat(cli.err()).contains("refused: filter * has topics of the filter a");
    journal(1, "show", "other");
    assertThat(cli.err()).contains("no such journal");
    journal(1, "purge", "orders");
    journal(2);
  }
}
