package io.eventbus.cli.client;

import io.eventbus.cli.console.Failures;
import io.eventbus.cli.console.Text;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusException;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Subscription;
import java.io.PrintWriter;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Warnings about the connections of a measurement, the first few times: a thousand of them may be
 * lost at once. The result counts what is missing. Safe for several threads.
 */
final class BenchWarnings implements ConnectionListener {
  private static final int MAX_LINES = 10;

  private final PrintWriter err;
  private final AtomicInteger told = new AtomicInteger();
  private volatile Consumer<String> lost = why -> {};

  BenchWarnings(PrintWriter err) {
    this.err = err;
  }

  /** Sets the listener for connections that are lost for good. */
  void whenLost(Consumer<String> listener) {
    lost = listener;
  }

  @Override
  public void disconnected(int code, String reason, boolean willReconnect) {
    String why = code + (reason.isEmpty() ? "" : " " + Text.printable(reason));
    if (willReconnect) {
      tell("connection lost (" + why + "), connecting again");
    } else {
      lost.accept(why);
    }
  }

  @Override
  public void problem(EventBusException problem) {
    tell(Text.printable(Failures.describe(problem)));
  }

  @Override
  public void handlerFailed(Subscription subscription, ReceivedEvent event, Throwable failure) {
    tell("an event was not counted: " + Failures.describe(failure));
  }

  private void tell(String text) {
    int number = told.incrementAndGet();
    if (number <= MAX_LINES) {
      err.println(
          "eventbus: " + text + (number == MAX_LINES ? " (no more of these are shown)" : ""));
      err.flush();
    }
  }
}
