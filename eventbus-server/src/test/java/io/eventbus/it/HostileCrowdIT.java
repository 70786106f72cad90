package io.eventbus.it;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Very many connections that nobody cares for any more. */
class HostileCrowdIT extends HostileTests {
  @Override
  String[] settings() {
    return new String[] {
      "timeouts.upgrade", "2s",
      "timeouts.hello", "2s",
      "timeouts.close", "1s",
      "timeouts.ping-interval", "2s",
      "timeouts.pong", "2s"
    };
  }

  @Test
  @Tag("nightly")
  void fiveThousandAbandonedConnectionsGoAway() throws Exception {
    List<RawClient> abandoned = new ArrayList<>();
    try {
      for (int i = 0; i < 5000; i++) {
        RawClient client = i % 4 == 0 ? RawClient.tcp(bus.uri()) : RawClient.upgraded(bus.uri());
        abandoned.add(client);
        if (i % 4 >= 2) {
          client.hello(null);
          client.subscribe(1, "abandoned." + i + ".>");
        }
        if (i % 8 == 7) {
          // A reset instead of an end.
          client.socket().setSoLinger(true, 0);
          client.close();
        } else if (i % 8 == 6) {
          client.close();
        }
      }
      bus.pair().awaitProgress();
      // All are silent now: each ends at its own deadline, and the check waits for it.
      bus.check();
    } finally {
      for (RawClient client : abandoned) {
        client.close();
      }
    }
  }
}
