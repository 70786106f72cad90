package io.eventbus.loadtest.driver.eventbus;

import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Published;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Client that has every event confirmed. */
final class ConfirmedPublisher implements Driver.Publisher {
  private final EventBusClient client;
  private final String[] topics;
  private volatile @Nullable Throwable failure;
  private @Nullable CompletionStage<Published> last;

  ConfirmedPublisher(EventBusClient client, String[] topics) {
    this.client = client;
    this.topics = topics;
  }

  @Override
  public void publish(int topic, byte[] payload) {
    check();
    try {
      last =
          client
              .publish(topics[topic], payload)
              .whenComplete(
                  (published, why) -> {
                    if (why != null) {
                      failure = why;
                    }
                  });
    } catch (EventBusException e) {
      throw new DriverException("an event to " + topics[topic] + " was not taken", e);
    }
  }

  private void check() {
    Throwable why = failure;
    if (why != null) {
      throw new DriverException("an event was not confirmed", why);
    }
  }

  @Override
  public void flush() {
    if (last != null) {
      EventBusSession.await(last, "an event was not confirmed");
    }
    check();
  }

  @Override
  public void close() {
    client.close(Duration.ZERO);
  }
}
