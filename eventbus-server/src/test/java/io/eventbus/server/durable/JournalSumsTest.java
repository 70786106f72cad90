package io.eventbus.server.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.Retention;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.config.Quota;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Sums of what journals hold. */
class JournalSumsTest {
  private final FakeJournals journals = new FakeJournals();
  private final FakeQuotas quotas = new FakeQuotas();

  private void create(String name) {
    var unused =
        journals.create(
            new JournalDefinition(
                name,
                List.of(TopicFilter.parse(name + ".>")),
                KeepPolicy.ALL,
                Retention.UNLIMITED,
                FullPolicy.DROP_OLD));
  }

  private JournalSums watched() {
    JournalSums sums = new JournalSums(journals, quotas.quotas);
    var watch = journals.watch(sums);
    assertThat(watch).isNotNull();
    return sums;
  }

  @Test
  void whatIsThereAtTheStartAndWhatComesIsCounted() {
    create("a");
    FakeEvents.publish(journals, 1, "a.x", 1, "first");
    JournalSums sums = watched();
    sums.refresh();
    assertThat(sums.figures().journals()).isEqualTo(1);
    assertThat(sums.figures().events()).isEqualTo(1);
    long bytes = sums.figures().bytes();
    assertThat(bytes).isPositive();
    create("b");
    FakeEvents.publish(journals, 1, "a.x", 2, "second");
    FakeEvents.publish(journals, 2, "b.x", 1, "third");
    sums.refresh();
    assertThat(sums.figures().journals()).isEqualTo(2);
    assertThat(sums.figures().events()).isEqualTo(3);
    assertThat(sums.figures().bytes()).isGreaterThan(bytes);
    assertThat(sums.figures().subscriptions()).isZero();
    journals.createCursor(
        1, "billing", TopicFilter.parse("a.x"), CursorMode.EXCLUSIVE, CursorStart.FIRST, 0);
    journals.createCursor(
        1, "audit", TopicFilter.parse("a.x"), CursorMode.EXCLUSIVE, CursorStart.NEW, 0);
    journals.createCursor(
        2, "billing", TopicFilter.parse("b.x"), CursorMode.EXCLUSIVE, CursorStart.FIRST, 0);
    sums.refresh();
    assertThat(sums.figures().subscriptions()).isEqualTo(3);
    assertThat(sums.figures().maxLag()).isEqualTo(2);
    long epoch = Objects.requireNonNull(journals.cursor(1, "billing")).epoch();
    journals.settleCursor(1, "billing", epoch, 2);
    sums.refresh();
    assertThat(sums.figures().maxLag()).as("that of the other journal").isEqualTo(1);
    var unused = journals.delete(1);
    sums.refresh();
    assertThat(sums.figures().subscriptions()).isEqualTo(1);
    assertThat(sums.figures().journals()).isEqualTo(1);
    assertThat(sums.figures().events()).isEqualTo(1);
  }

  @Test
  void anAccountAtItsQuotaStoresNothingUntilThereIsRoom() {
    create("acme/a");
    create("acme/b");
    create("other/a");
    quotas.limit("acme", Quota.DURABLE_BYTES, 2_000);
    quotas.limit("other", Quota.DURABLE_BYTES, 2_000);
    JournalSums sums = watched();
    FakeEvents.publish(journals, 1, "acme/a.x", 1, "x".repeat(1_500));
    FakeEvents.publish(journals, 3, "other/a.x", 1, "x".repeat(1_500));
    sums.refresh();
    assertThat(quotas.quotas.refusal("acme")).isNull();
    FakeEvents.publish(journals, 2, "acme/b.x", 1, "x".repeat(1_500));
    sums.refresh();
    long held = Objects.requireNonNull(sums.figures().accounts().get("acme")).bytes();
    assertThat(held).isGreaterThan(3_000);
    assertThat(Objects.requireNonNull(quotas.quotas.refusal("acme")).get())
        .startsWith(
            "the clients of account 'acme' have "
                + held
                + " bytes stored in durable topics (expected: at most 2000, quota of the account:"
                + " durable-bytes)");
    assertThat(quotas.accounts.refusals()).containsEntry("account_durable_bytes", 1L);
    assertThat(quotas.quotas.refusal("other")).isNull();
    assertThat(quotas.quotas.refusal("")).isNull();
    var unused = journals.trim(2, 1);
    sums.refresh();
    assertThat(quotas.quotas.refusal("acme")).isNull();
    quotas.limit("acme", Quota.DURABLE_BYTES, 100);
    sums.refresh();
    assertThat(quotas.quotas.refusal("acme")).isNotNull();
    quotas.limit("acme", Quota.DURABLE_BYTES, 0);
    sums.refresh();
    assertThat(quotas.quotas.refusal("acme")).isNull();
  }

  @Test
  void journalsThatCannotBeReadAreReadTheNextTime() {
    create("a");
    FakeEvents.publish(journals, 1, "a.x", 1, "first");
    JournalSums sums = watched();
    journals.unavailable(true);
    sums.refresh();
    assertThat(sums.figures().events()).isZero();
    journals.unavailable(false);
    sums.refresh();
    assertThat(sums.figures().events()).isEqualTo(1);
  }

  @Test
  void manyJournalsAreReadABoundedNumberAtATime() {
    for (int i = 0; i < JournalSums.MAX_READ + 1; i++) {
      create("j" + i);
      FakeEvents.publish(journals, i + 1, "j" + i + ".x", 1, "event");
    }
    JournalSums sums = watched();
    sums.refresh();
    assertThat(sums.figures().events()).isEqualTo(JournalSums.MAX_READ);
    sums.refresh();
    assertThat(sums.figures().events()).isEqualTo(JournalSums.MAX_READ + 1);
  }
}
