package io.eventbus.conformance.sdk;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.client.EventBusException;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

/** Writer of the testee's lines; any thread. */
final class Output {
  private final Consumer<ObjectNode> lines;

  Output(Consumer<ObjectNode> lines) {
    this.lines = lines;
  }

  static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  void ok(long id, ObjectNode answer) {
    write(object().put("id", id).set("ok", answer));
  }

  void failed(long id, Throwable thrown) {
    Throwable failure =
        thrown instanceof CompletionException && thrown.getCause() != null
            ? thrown.getCause()
            : thrown;
    if (failure instanceof EventBusException
        || failure instanceof java.util.concurrent.CancellationException
        || failure instanceof IllegalArgumentException) {
      write(object().put("id", id).set("error", error(failure)));
    } else {
      broken(id, failure.toString());
    }
  }

  void broken(long id, String what) {
    write(object().put("id", id).put("broken", what));
  }

  void unsupported(long id, String capability) {
    write(object().put("id", id).put("unsupported", capability));
  }

  ObjectNode event(String name, String client) {
    return object().put("event", name).put("client", client);
  }

  static ObjectNode error(Throwable failure) {
    ObjectNode error = object().put("code", code(failure));
    if (failure instanceof EventBusException.Refused refused) {
      error.put("busCode", refused.code().name());
    }
    if (failure instanceof EventBusException.CallFailed call) {
      error.put("executed", call.executed().name());
    }
    error.put("retryable", failure instanceof EventBusException known && known.retryable());
    return error.put("message", String.valueOf(failure.getMessage()));
  }

  static String code(Throwable failure) {
    if (failure instanceof java.util.concurrent.CancellationException) {
      return "CANCELLED";
    }
    if (failure instanceof EventBusException.CallFailed call) {
      return call(call);
    }
    if (failure instanceof EventBusException.IllegalTopic) {
      return "ILLEGAL_TOPIC";
    } else if (failure instanceof EventBusException.PayloadTooBig) {
      return "TOO_BIG";
    } else if (failure instanceof EventBusException.BufferFull) {
      return "BUFFER_FULL";
    } else if (failure instanceof EventBusException.NotConnected) {
      return "NOT_CONNECTED";
    } else if (failure instanceof EventBusException.NoToken) {
      return "NO_TOKEN";
    } else if (failure instanceof EventBusException.ConnectionLost) {
      return "CONNECTION_LOST";
    } else if (failure instanceof EventBusException.Refused) {
      return "REFUSED";
    } else if (failure instanceof EventBusException.TimedOut) {
      return "TIMED_OUT";
    } else if (failure instanceof EventBusException.Closed) {
      return "CLOSED";
    } else if (failure instanceof EventBusException.UnreadablePayload) {
      return "UNREADABLE_PAYLOAD";
    }
    return "INVALID";
  }

  /**
   * Returns the protocol's name of a failure, or BUS_LOST where the client's own connection is
   * lost.
   */
  private static String call(EventBusException.CallFailed failure) {
    if (failure instanceof EventBusException.CallFailed.Rejected rejected) {
      return rejected.reason().name();
    } else if (failure instanceof EventBusException.CallFailed.NotServed refused) {
      return refused.code().name();
    } else if (failure instanceof EventBusException.CallFailed.NoMember) {
      return "NO_MEMBER";
    } else if (failure instanceof EventBusException.CallFailed.Overloaded) {
      return "OVERLOADED";
    } else if (failure instanceof EventBusException.CallFailed.MemberLost) {
      return "MEMBER_LOST";
    } else if (failure instanceof EventBusException.CallFailed.BusLost) {
      return "BUS_LOST";
    } else if (failure instanceof EventBusException.CallFailed.DeadlineExceeded) {
      return "TIMEOUT";
    }
    return "CANCELLED";
  }

  void write(ObjectNode line) {
    lines.accept(line);
  }
}
