package io.eventbus.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.server.config.ServerConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BusDirectoryTest {
  private final Path root;

  BusDirectoryTest(@TempDir Path root) {
    this.root = root;
  }

  private ServerConfig config(String bus, String cluster) {
    return ServerConfig.of(
        Map.of(
            "bus.name", bus,
            "cluster.id", cluster,
            "cluster.directory", root.resolve("data").toString()));
  }

  @Test
  void aNameIsKept() throws IOException {
    String made = BusDirectory.open(config("", "north")).bus();
    assertThat(made).startsWith("bus-");
    assertThat(BusDirectory.open(config("", "north")).bus()).isEqualTo(made);
    assertThat(BusDirectory.open(config(made, "north")).bus()).isEqualTo(made);
    assertThat(BusDirectory.open(config("", "north")).registry())
        .isEqualTo(root.resolve("data/registry"));
  }

  @Test
  void somebodyElsesIsRefused() throws IOException {
    BusDirectory.open(config("a", "north"));
    assertThatThrownBy(() -> BusDirectory.open(config("b", "north")))
        .isInstanceOf(IOException.class)
        .hasMessageEndingWith("belongs to the bus a (expected: bus.name, b)");
    assertThatThrownBy(() -> BusDirectory.open(config("a", "south")))
        .isInstanceOf(IOException.class)
        .hasMessageEndingWith("belongs to the cluster north (expected: cluster.id, south)");
  }

  @Test
  void unreadableKeysAreRefusedAndLeftAlone() throws IOException {
    BusDirectory.open(config("a", "north"));
    Path identity = root.resolve("data/identity");
    for (String text : new String[] {"", "eventbus identity 2\n", "eventbus identity 1\nbus a\n"}) {
      Files.writeString(identity, text);
      assertThatThrownBy(() -> BusDirectory.open(config("a", "north")))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("is damaged");
      assertThat(identity).hasContent(text);
    }
  }

  @Test
  void aFileIsNoDirectory() throws IOException {
    Files.writeString(root.resolve("data"), "a file");
    assertThatThrownBy(() -> BusDirectory.open(config("a", "north")))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("cluster.directory: \"" + root.resolve("data"))
        .hasMessageContaining("cannot be used (expected: a directory)");
  }
}
