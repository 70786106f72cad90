package io.eventbus.loadtest.faults.buses;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.store.AppliedEntry;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreBatch;
import io.eventbus.journal.store.StoreIdentity;
import io.eventbus.journal.store.StoreOptions;
import io.eventbus.journal.store.StoreResources;
import io.eventbus.loadtest.driver.DriverException;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoredRowsTest {
  private static final int ROWS = 30;
  private static final UUID GROUP = new UUID(1, 2);

  @TempDir private Path directory = Path.of("");
  private final AtomicLong rows = new AtomicLong();

  private Path data(String bus) {
    return directory.resolve(bus);
  }

  private void fill(String bus, Map<String, String> values, long entry) throws IOException {
    Path shard = Files.createDirectories(data(bus).resolve("shards/shards/1"));
    String member = bus + "~1";
    Files.write(
        shard.resolve("identity"),
        List.of("format 1", "group " + GROUP, "member " + member, "ready"));
    try (StoreResources resources = StoreResources.open(data(bus).resolve("native"));
        ShardStore store =
            ShardStore.open(
                shard.resolve("store"),
                new StoreIdentity(GROUP, member),
                StoreOptions.DEFAULT,
                resources,
                failure -> {})) {
      try (StoreBatch batch = store.begin()) {
        values.forEach(
            (key, value) ->
                batch.put(
                    key.getBytes(StandardCharsets.UTF_8), value.getBytes(StandardCharsets.UTF_8)));
        batch.commit(new AppliedEntry(1, entry, 1));
      }
    }
  }

  private static Map<String, String> values() {
    Map<String, String> values = new TreeMap<>();
    for (int i = 0; i < ROWS; i++) {
      values.put(String.format("row-%02d", i), "value " + i);
    }
    return values;
  }

  private Optional<List<String>> differences(String... buses) {
    URI nowhere = URI.create("http://127.0.0.1:1");
    return StoredRows.differences(
        List.of(buses).stream()
            .map(
                bus ->
                    new FaultBus(
                        bus,
                        List.of(),
                        data(bus),
                        directory,
                        nowhere,
                        new BusAnswers(bus, nowhere, "token"),
                        null))
            .toList(),
        rows::set);
  }

  @Test
  void rowsThatAreTheSameHaveNoDifferences() throws IOException {
    fill("bus-1", values(), 7);
    fill("bus-2", values(), 7);
    fill("bus-3", values(), 7);
    assertThat(differences("bus-1", "bus-2", "bus-3")).contains(List.of());
    assertThat(rows).hasValue(ROWS);
  }

  @Test
  void aRowThatOneBusHasOtherwiseIsFound() throws IOException {
    Map<String, String> changed = values();
    changed.put("row-17", "value 18");
    fill("bus-1", values(), 7);
    fill("bus-2", changed, 7);
    fill("bus-3", values(), 7);
    assertThat(differences("bus-1", "bus-2", "bus-3").orElseThrow())
        .containsExactly(
            "row 726f772d3137 from byte 7, bus-1: 8 bytes, 37, bus-2: 8 bytes, 38,"
                + " bus-3: 8 bytes, 37");
  }

  @Test
  void aRowThatOneBusLacksIsFound() throws IOException {
    Map<String, String> less = values();
    less.remove("row-00");
    Map<String, String> more = values();
    more.put("row-99", "");
    fill("bus-1", less, 7);
    fill("bus-2", more, 7);
    assertThat(differences("bus-1", "bus-2").orElseThrow())
        .containsExactly(
            "row 726f772d3030 from byte 0, bus-1: none, bus-2: 7 bytes, 76616c75652030",
            "row 726f772d3939 from byte 0, bus-1: none, bus-2: 0 bytes, ");
  }

  @Test
  void rowsOfDifferentEntriesAreNotCompared() throws IOException {
    fill("bus-1", values(), 7);
    fill("bus-2", values(), 8);
    assertThat(differences("bus-1", "bus-2")).isEmpty();
  }

  @Test
  void rowsThatAreNotThereAreAnError() throws IOException {
    fill("bus-1", values(), 7);
    assertThatThrownBy(() -> differences("bus-1", "bus-2"))
        .isInstanceOf(DriverException.class)
        .hasMessageContaining("the rows of bus-2 cannot be read");
  }
}
