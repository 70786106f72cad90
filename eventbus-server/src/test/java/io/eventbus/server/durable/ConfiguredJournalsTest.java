package io.eventbus.server.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.KeepPolicy;
import io.eventbus.server.config.ConfigException;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Journals of the configuration, which are created or checked at the start. */
class ConfiguredJournalsTest {
  private final FakeJournals journals = new FakeJournals();
  private final JournalAdministration administration =
      new JournalAdministration(
          journals, JournalCluster.ALONE, new FakeQuotas().quotas, advisory -> {}, () -> {});

  private void apply(String... texts) throws IOException {
    ConfiguredJournals.read(List.of(texts)).apply(administration, "/data");
  }

  @Test
  void journalsAreCreatedOnce() throws Exception {
    String orders = "orders orders.> billing.* max-age=7d max-bytes=1MiB full=refuse";
    String prices = "prices prices.> keep=latest account=acme";
    apply(orders, prices);
    apply(prices, orders);
    List<JournalInfo> all = administration.list(null, null, 10);
    assertThat(all).hasSize(2);
    assertThat(all.get(0).name()).isEqualTo(new JournalName("", "orders"));
    assertThat(all.get(0).filters()).hasToString("[orders.>, billing.*]");
    assertThat(all.get(0).retention().bytes()).isEqualTo(1 << 20);
    assertThat(all.get(1).name()).isEqualTo(new JournalName("acme", "prices"));
    assertThat(all.get(1).keep()).isEqualTo(KeepPolicy.LATEST);
  }

  @Test
  void theOrderOfFiltersMakesNoDifference() throws Exception {
    apply("orders a b");
    apply("orders b a");
  }

  @Test
  void aJournalThatDiffersIsAnError() throws Exception {
    apply("orders orders.> max-age=7d", "other other.>");
    assertThatThrownBy(() -> apply("other other.>", "orders orders.* max-age=30d"))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "durable.journals: the journal orders in /data has filters=orders.> (expected:"
                + " orders.*), max-age=7d (expected: 30d); change the configuration, or the journal"
                + " with eventbus journal change");
  }

  @Test
  void aJournalThatCannotBeCreatedIsAnError() throws Exception {
    apply("orders orders.>");
    assertThatThrownBy(() -> apply("more orders.eu"))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("durable.journals: the journal more in /data is not created: ")
        .hasMessageContaining("filter orders.eu has topics of the filter orders.>");
    journals.unavailable(true);
    assertThatThrownBy(() -> apply("last last.>"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no answer");
  }

  @ParameterizedTest
  @CsvSource({
    "orders, filters: missing",
    "orders a..b, filters: illegal",
    "orders a max-age=soon, max-age: illegal (expected: a time span",
    "orders a keep=some, keep: illegal (expected: all or latest)",
    "orders a size=1, the unknown option \"size\"",
    "orders a full=refuse full=refuse, full: given twice",
    "a/b c, journal: a name with /",
    "orders a account=/, account: illegal",
  })
  void illegalTextsAreAllTold(String text, String problem) {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> ConfiguredJournals.read(List.of("fine fine.>", text, "")))
        .satisfies(e -> assertThat(e.problems()).hasSize(2))
        .withMessageContaining("durable.journals: in \"" + text + "\" " + problem);
  }

  @Test
  void aNameIsGivenOnce() {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> ConfiguredJournals.read(List.of("a a.x", "a a.y")))
        .withMessageContaining("a journal of this name before (expected: one)");
  }
}
