package io.eventbus.cli.client;

import io.eventbus.cli.console.BrokenPipe;
import io.eventbus.cli.console.Failures;
import io.eventbus.cli.console.Text;
import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Gap;
import io.eventbus.client.Interruption;
import io.eventbus.client.Invocation;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Subscription;
import io.eventbus.client.Truncated;
import io.eventbus.client.Worker;
import java.io.PrintWriter;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;

/** Warnings on standard error about the connection. Safe for several threads. */
final class Warnings implements ConnectionListener {
  private final PrintWriter err;
  private final Consumer<String> lost;
  private volatile boolean interrupted;

  /**
   * Creates a listener.
   *
   * @param lost receives the reason when the connection is lost for good
   */
  Warnings(PrintWriter err, Consumer<String> lost) {
    this.err = err;
    this.lost = lost;
  }

  @Override
  public void connected(ConnectionInfo connection) {
    if (interrupted) {
      tell("connected again to " + connection.url());
    }
  }

  @Override
  public void disconnected(int code, String reason, boolean willReconnect) {
    String why = code + (reason.isEmpty() ? "" : " " + Text.printable(reason));
    if (willReconnect) {
      interrupted = true;
      tell("connection lost (" + why + "), connecting again");
    } else {
      lost.accept(why);
    }
  }

  @Override
  public void gap(Gap gap) {
    tell(gap.count() + " events are missing on " + gap.topic() + " (" + gap.reason() + ")");
  }

  @Override
  public void interruption(Interruption interruption) {
    tell(
        "events of "
            + interruption.filter()
            + " may be missing from "
            + interruption.from()
            + " to "
            + interruption.to());
  }

  @Override
  public void dropped(long events, DropCause cause) {
    tell(events + " published events are lost, or may be (" + cause + ")");
  }

  @Override
  public void problem(EventBusException problem) {
    tell(Text.printable(Failures.describe(problem)));
  }

  @Override
  public void handlerFailed(Subscription subscription, ReceivedEvent event, Throwable failure) {
    if (!(failure instanceof BrokenPipe)) {
      tell("an event of " + event.topic() + " was not shown: " + Failures.describe(failure));
    }
  }

  @Override
  public void truncated(Truncated truncated) {
    tell(
        "positions "
            + truncated.from()
            + " to "
            + truncated.to()
            + " of "
            + truncated.filter()
            + " do not come ("
            + truncated.reason()
            + ")");
  }

  @Override
  public void handlerFailed(DurableSubscription subscription, long position, Throwable failure) {
    if (!(failure instanceof BrokenPipe || failure instanceof CancellationException)) {
      tell("the event at position " + position + " was not shown: " + Failures.describe(failure));
    }
  }

  @Override
  public void handlerFailed(Worker worker, long position, Throwable failure) {
    tell("the event at position " + position + " comes again: " + Failures.describe(failure));
  }

  @Override
  public void requestFailed(Invocation invocation, Throwable failure) {
    tell("a request was not answered: " + Text.printable(Failures.describe(failure)));
  }

  private void tell(String text) {
    err.println("eventbus: " + text);
    err.flush();
  }
}
