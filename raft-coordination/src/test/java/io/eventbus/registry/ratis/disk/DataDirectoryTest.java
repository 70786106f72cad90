package io.eventbus.registry.ratis.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.registry.BusId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataDirectoryTest {
  private static final BusId BUS = new BusId("bus-a");
  private static final UUID CLUSTER = UUID.fromString("00000000-0000-4000-8000-000000000001");

  private final Path root;

  DataDirectoryTest(@TempDir Path root) {
    this.root = root;
  }

  private void write(boolean ready) throws IOException {
    try (DataDirectory directory = DataDirectory.open(root, BUS)) {
      directory.mark(new DataDirectory.Marker(CLUSTER, BUS, ready, true));
    }
  }

  private Path meta() {
    return root.resolve("engine").resolve(CLUSTER.toString()).resolve("current/raft-meta");
  }

  @Test
  void readsTheMarkerThatWasWritten() throws Exception {
    try (DataDirectory directory = DataDirectory.open(root, BUS)) {
      assertThat(directory.marker()).isNull();
    }
    write(false);
    try (DataDirectory directory = DataDirectory.open(root, BUS)) {
      assertThat(directory.marker()).isEqualTo(new DataDirectory.Marker(CLUSTER, BUS, false, true));
      assertThat(directory.hasEngineFiles(CLUSTER)).isFalse();
    }
  }

  @Test
  void onlyOneUsesItAtATime() throws Exception {
    try (DataDirectory directory = DataDirectory.open(root, BUS)) {
      assertThatThrownBy(() -> DataDirectory.open(root, BUS))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("another process uses it");
      assertThat(directory.marker()).isNull();
    }
    DataDirectory.open(root, BUS).close();
  }

  @Test
  void theDirectoryOfAnotherBusIsRefused() throws Exception {
    write(false);
    assertThatThrownBy(() -> DataDirectory.open(root, new BusId("bus-b")))
        .hasMessageEndingWith("bus bus-a (expected: bus-b)");
  }

  @Test
  void everyChangedByteOfTheMarkerIsNoticed() throws Exception {
    write(false);
    Path marker = root.resolve("registry.marker");
    byte[] good = Files.readAllBytes(marker);
    for (int i = 0; i < good.length; i++) {
      byte[] bad = good.clone();
      bad[i] ^= 1;
      Files.write(marker, bad);
      assertThatThrownBy(() -> DataDirectory.open(root, BUS))
          .as("byte %s", i)
          .hasMessageContaining("is damaged");
    }
    Files.write(marker, good);
    DataDirectory.open(root, BUS).close();
  }

  @Test
  void engineFilesWithoutAMarkerAreNotTouched() throws Exception {
    Files.createDirectories(meta().getParent());
    Files.writeString(meta(), "x");
    assertThatThrownBy(() -> DataDirectory.open(root, BUS))
        .hasMessageContaining("no registry.marker");
    assertThat(meta()).hasContent("x");
  }

  @Test
  void aBusWhoseEngineFilesAreGoneDoesNotStartAsIfNothingHadHappened() throws Exception {
    write(true);
    assertThatThrownBy(() -> DataDirectory.open(root, BUS))
        .hasMessageContaining("the engine's files are missing");
    Files.createDirectories(meta().getParent());
    Files.writeString(meta(), "x");
    DataDirectory.open(root, BUS).close();
  }
}
