package io.eventbus.server.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class NumberMapTest {
  @Test
  void keepsValuesByNumber() {
    NumberMap<String> map = new NumberMap<>();
    for (long number : List.of(0L, -1L, Long.MIN_VALUE, Long.MAX_VALUE)) {
      assertThat(map.put(number, "v" + number)).isNull();
      assertThat(map.put(number, "w" + number)).isEqualTo("v" + number);
    }
    assertThat(map.size()).isEqualTo(4);
    assertThat(map.get(-1)).isEqualTo("w-1");
    assertThat(map.containsKey(1)).isFalse();
    assertThat(map.remove(0)).isEqualTo("w0");
    assertThat(map.values()).hasSize(3);
    map.clear();
    assertThat(map.isEmpty()).isTrue();
  }

  @Test
  void numbersThatShareAPlaceUnmixedDoNotShareIt() {
    // For all these the hash of Netty's table is 0, and the low bits of the product with any
    // factor.
    List<Long> equalHalves = new ArrayList<>();
    List<Long> highBits = new ArrayList<>();
    for (long i = 1; i <= 4096; i++) {
      equalHalves.add(i << 32 | i);
      highBits.add(i << 48);
    }
    for (List<Long> numbers : List.of(equalHalves, highBits)) {
      Set<Integer> places = new HashSet<>();
      for (long number : numbers) {
        long mixed = SecretHash.of(number);
        places.add((int) (mixed ^ mixed >>> 32) & 8191);
      }
      // By chance 4,096 numbers take some 3,200 of 8,192 places.
      assertThat(places).hasSizeGreaterThan(2500);
    }
  }
}
