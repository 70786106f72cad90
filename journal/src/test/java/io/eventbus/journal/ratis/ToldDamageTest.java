package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.state.Keys;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.TestStores;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Listener of a replica whose events cannot be read. */
@Timeout(240)
class ToldDamageTest {
  @Test
  void damageThatAReaderMeetsIsToldOnce(@TempDir Path directory) throws Exception {
    try (ShardJournals journals = ShardJournals.open(TestShards.options(directory))) {
      int unused = TestShards.create(journals, TestShards.definition("orders"));
      for (int i = 1; i <= 5; i++) {
        assertThat(TestShards.await(TestShards.publish(journals, 1, "a", "p", i, 1).result()))
            .isNotNull();
      }
    }
    try (ShardStore store = TestShards.openStore(TestShards.options(directory))) {
      byte[] unused = TestStores.exchange(store, Keys.chunk(1, 3), new byte[] {99});
    }
    ToldEvents events = new ToldEvents();
    try (ShardJournals journals =
        ShardJournals.open(TestShards.options(directory), opened -> opened.listen(events))) {
      assertThat(TestShards.read(journals, 1, TestShards.ALL)).hasSize(4);
      assertThat(TestShards.read(journals, 1, TestShards.ALL)).hasSize(4);
    }
    assertThat(events.told()).containsExactly("damaged orders positions 3 to 3 cannot be read");
  }
}
