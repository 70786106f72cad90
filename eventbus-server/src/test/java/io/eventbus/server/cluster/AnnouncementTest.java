package io.eventbus.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.BusId;
import io.eventbus.registry.Endpoint;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AnnouncementTest {
  private static final byte[] SECRET = "a-secret-for-tests".getBytes(StandardCharsets.US_ASCII);
  private static final Announcement SAID =
      new Announcement("north", "", new BusId("bus-1"), new Endpoint("192.0.2.1", 60_000), -7);

  @Test
  void isReadAsWritten() {
    for (byte[] secret : new byte[][] {null, SECRET}) {
      for (String cluster : new String[] {"", "0123-4567"}) {
        Announcement said =
            new Announcement("north", cluster, SAID.bus(), new Endpoint("::1", 1), Long.MAX_VALUE);
        byte[] bytes = said.encode(secret);
        assertThat(Announcement.decode(bytes, bytes.length, secret)).isEqualTo(said);
      }
    }
  }

  @Test
  void theLongestFits() {
    String name = "x".repeat(64);
    Announcement longest =
        new Announcement(
            name, name, new BusId(name), new Endpoint("h".repeat(253), 65_535), Long.MIN_VALUE);
    byte[] bytes = longest.encode(SECRET);
    assertThat(bytes.length).isLessThanOrEqualTo(Announcement.MAX_BYTES);
    assertThat(Announcement.decode(bytes, bytes.length, SECRET)).isEqualTo(longest);
  }

  @Test
  void announcementsWithoutTheSecretAreIgnored() {
    byte[] open = SAID.encode(null);
    assertThat(Announcement.decode(open, open.length, SECRET)).isNull();
    byte[] bytes = SAID.encode(SECRET);
    assertThat(Announcement.decode(bytes, bytes.length, null)).isNull();
    for (int i = 0; i < bytes.length; i++) {
      byte[] changed = bytes.clone();
      changed[i]++;
      assertThat(Announcement.decode(changed, changed.length, SECRET)).as("byte " + i).isNull();
      assertThat(Announcement.decode(bytes, i, SECRET)).as("length " + i).isNull();
    }
  }

  /** Without a secret anybody can make the code right: then the covered values must not do harm. */
  @Test
  void nonsenseIsNotHeard() {
    Random random = new Random(1);
    byte[] good = SAID.encode(null);
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = Arrays.copyOf(good, 5 + random.nextInt(100));
      for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
        bytes[4 + random.nextInt(bytes.length - 4)] = (byte) random.nextInt();
      }
      byte[] sealed = Announcement.seal(bytes, null);
      Announcement heard = Announcement.decode(sealed, sealed.length, null);
      if (heard != null) {
        assertThat(heard.encode(null)).isEqualTo(sealed);
      }
    }
  }
}
