package io.eventbus.server.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.Retention;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.advisory.Advisory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Journals that refuse events. */
class FullJournalsTest {
  private final FakeJournals journals = new FakeJournals();
  private final List<Advisory> told = new ArrayList<>();
  private long nanos = Long.MAX_VALUE - 5;
  private final FullJournals full = new FullJournals(journals::catalog, told::add, () -> nanos);

  private void create(String name) {
    var unused =
        journals.create(
            new JournalDefinition(
                name,
                List.of(TopicFilter.parse("orders.>")),
                KeepPolicy.ALL,
                new Retention(0, 0, 7),
                FullPolicy.REFUSE));
  }

  @Test
  void theFirstRefusalIsToldAndTheEndOfRefusals() {
    create("acme/orders");
    full.refused(1);
    full.refused(1);
    Advisory refuses = new Advisory.JournalFull("acme", "orders", true);
    assertThat(told).containsExactly(refuses);
    nanos += FullJournals.QUIET_NANOS - 1;
    full.refused(1);
    nanos += FullJournals.QUIET_NANOS - 1;
    full.look();
    assertThat(told).containsExactly(refuses);
    nanos++;
    full.look();
    full.look();
    Advisory hasRoom = new Advisory.JournalFull("acme", "orders", false);
    assertThat(told).containsExactly(refuses, hasRoom);
    full.refused(1);
    assertThat(told).containsExactly(refuses, hasRoom, refuses);
  }

  @Test
  void aJournalThatIsDeletedIsForgotten() {
    create("orders");
    full.refused(1);
    told.clear();
    var unused = journals.delete(1);
    nanos += FullJournals.QUIET_NANOS;
    full.look();
    assertThat(told).isEmpty();
  }
}
