package io.eventbus.cli.console;

import io.eventbus.client.EventBusException;
import io.eventbus.server.config.ConfigException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** Messages for people and exit codes of exceptions. */
public final class Failures {
  private static final int MAX_CAUSES = 5;

  private Failures() {}

  /** Returns the messages of an exception and its causes, without repetition. */
  public static String describe(Throwable failure) {
    StringBuilder text = new StringBuilder();
    Throwable cause = failure;
    for (int i = 0; cause != null && i < MAX_CAUSES; i++) {
      String message = message(cause);
      if (text.indexOf(message) < 0) {
        text.append(text.isEmpty() ? "" : ": ").append(message);
      }
      cause = cause.getCause();
    }
    return text.toString();
  }

  public static int exitCode(Throwable failure) {
    if (failure instanceof CliFailure known) {
      return known.exitCode();
    }
    if (failure instanceof EventBusException.IllegalTopic || failure instanceof ConfigException) {
      return ExitCode.USAGE;
    }
    return failure instanceof EventBusException.NotConnected
            || failure instanceof EventBusException.NoToken
            || failure instanceof EventBusException.ConnectionLost
        ? ExitCode.NOT_CONNECTED
        : ExitCode.FAILED;
  }

  /** Returns the real failure of a stage. */
  public static Throwable unwrap(Throwable failure) {
    Throwable cause = failure.getCause();
    boolean wrapper =
        failure instanceof CompletionException || failure instanceof ExecutionException;
    return wrapper && cause != null ? cause : failure;
  }

  private static String message(Throwable failure) {
    if (failure instanceof UnresolvedAddressException || failure instanceof UnknownHostException) {
      return "the host name is unknown";
    }
    @Nullable String message = failure.getMessage();
    // Messages of these are for people; those of others often make no sense without the name.
    boolean known = failure instanceof CliFailure || failure instanceof EventBusException;
    // Libraries exist that make a text of a missing message.
    if (message == null || message.isEmpty() || message.equals("null")) {
      return failure.getClass().getSimpleName();
    }
    return known || message.contains(" ")
        ? message
        : failure.getClass().getSimpleName() + " " + message;
  }
}
