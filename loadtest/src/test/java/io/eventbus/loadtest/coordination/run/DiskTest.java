package io.eventbus.loadtest.coordination.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskTest {
  @Test
  void whatIsNoDiskIsWarnedOf() {
    assertThat(Disk.warning("tmpfs")).contains("tmpfs", "--data");
    assertThat(Disk.warning("overlay")).isNotEmpty();
    assertThat(Disk.warning("ext4")).isEmpty();
  }

  @Test
  void measures(@TempDir Path directory) throws Exception {
    assertThat(Disk.of(directory).fsyncMillis()).isPositive();
    assertThat(directory).isEmptyDirectory();
  }
}
