package io.eventbus.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ConnectTimeoutException;
import java.net.ConnectException;
import org.junit.jupiter.api.Test;

class OutgoingLinksTest {
  private final LinkException refused =
      new LinkException("one", new ConnectException("Connection refused: one"));
  private final LinkException silent =
      new LinkException("other", new ConnectTimeoutException("connection timed out"));

  @Test
  void aNameIsRefusedOnlyIfEachOfItsAddressesRefuses() {
    assertThat(OutgoingLinks.unlessRefused(null, refused)).isSameAs(refused);
    assertThat(OutgoingLinks.unlessRefused(silent, refused)).isSameAs(silent);
    assertThat(OutgoingLinks.unlessRefused(refused, silent)).isSameAs(silent);
    LinkException last =
        new LinkException("last", new ConnectException("Connection refused: last"));
    assertThat(OutgoingLinks.unlessRefused(refused, last)).isSameAs(last);
  }
}
