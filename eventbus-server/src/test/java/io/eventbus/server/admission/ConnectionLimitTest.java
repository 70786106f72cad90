package io.eventbus.server.admission;

import static io.eventbus.server.admission.ConnectionLimit.HEAP_BYTES;
import static io.eventbus.server.admission.ConnectionLimit.TLS_HEAP_BYTES;
import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.admission.ConnectionLimit.Resources;
import io.eventbus.server.stats.RefusalReason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnectionLimitTest {
  private static final long GIB = 1L << 30;

  @ParameterizedTest
  @CsvSource({
    "100, 1048576, 200, 4, 100, MAX_CONNECTIONS",
    "100000, 1048576, 200, 4, 100000, MAX_CONNECTIONS",
    "100000, 1024, 124, 4, 836, DESCRIPTORS",
    "100000, 32768, 768, 4, 30976, DESCRIPTORS",
    "100000, 300, 100, 4, 136, DESCRIPTORS",
    "100000, 100, 90, 4, 1, DESCRIPTORS",
    "100000, 0, 0, 1, 65536, HEAP",
    "100000, 1048576, 200, 1, 65536, HEAP"
  })
  void theLeastBoundHolds(
      int configured, long descriptors, long inUse, long heapGib, int limit, RefusalReason reason) {
    ConnectionLimit found =
        ConnectionLimit.of(
            configured, new Resources(descriptors, inUse, heapGib * GIB, HEAP_BYTES));
    assertThat(found.connections()).isEqualTo(limit);
    assertThat(found.reason()).isEqualTo(reason);
  }

  @Test
  void theMessageNamesTheBoundAndItsValue() {
    assertThat(ConnectionLimit.of(500, new Resources(300, 100, GIB, HEAP_BYTES)).message())
        .contains("ulimit -n", "300", "100", "64");
    assertThat(
            ConnectionLimit.of(Integer.MAX_VALUE, new Resources(0, 0, GIB, HEAP_BYTES)).message())
        .contains("heap", Long.toString(GIB));
    assertThat(
            ConnectionLimit.of(Integer.MAX_VALUE, new Resources(0, 0, GIB, TLS_HEAP_BYTES))
                .connections())
        .isEqualTo(GIB / 4 / TLS_HEAP_BYTES);
    assertThat(ConnectionLimit.of(7, new Resources(0, 0, GIB, HEAP_BYTES)).message())
        .isEqualTo("listen.max-connections is 7");
  }

  @Test
  void spareDescriptorsSufficeForAdministrationAndRefusals() {
    for (int descriptors : new int[] {200, 300, 1024, 4096, 65_536}) {
      ConnectionLimit limit =
          ConnectionLimit.of(1_000_000, new Resources(descriptors, 100, 100 * GIB, HEAP_BYTES));
      assertThat(limit.connections() + limit.answered() + limit.administration())
          .isLessThanOrEqualTo(descriptors - 100 - 16);
    }
    ConnectionLimit roomy = ConnectionLimit.of(1000, new Resources(1 << 20, 100, GIB, HEAP_BYTES));
    assertThat(roomy.answered()).isEqualTo(64);
    assertThat(roomy.administration()).isEqualTo(1024);
  }
}
