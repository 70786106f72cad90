package io.eventbus.server.call;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.memory.NumberMap;
import io.eventbus.server.memory.ServiceShare;
import java.util.ArrayList;
import java.util.Arrays;

/**
 * Connection that sends requests to all members of services, created with the first of them by
 * {@link LoopCalls#gatherer}. Confined to the loop that owns the connection.
 */
public final class GatheringClient {
  /** Result of {@link #begin} for a request whose number is in use. */
  public static final int IN_FLIGHT = -1;

  private final LoopCalls calls;
  private final GatherPort end;
  private final CallerInfo info;
  private final ServiceShare held;
  private final NumberMap<Gathering> open = new NumberMap<>();
  // Members that its requests were or will be sent to, and that have not answered.
  private int members;
  private boolean closed;

  GatheringClient(LoopCalls calls, GatherPort end, CallerInfo info, ServiceShare held) {
    this.held = held;
    this.calls = calls;
    this.end = end;
    this.info = info;
  }

  /**
   * Sends a request to every member at this bus that takes calls now. It ends with the first call
   * of the {@link GatherPort} that has {@code more} false, perhaps before this returns. Returns the
   * number of members, 0 if it was refused, or {@link #IN_FLIGHT} if a request with this number has
   * not ended yet, or the connection has: then nothing was done.
   *
   * @param request not needed afterwards; its {@code member} and {@code waitMillis} are ignored
   */
  public int begin(CallRequest request) {
    calls.checkLoop();
    Delivery body = request.body;
    if (body == null) {
      throw new IllegalArgumentException("body: null (expected: method and event)");
    }
    long number = request.call;
    if (closed || open.containsKey(number)) {
      return IN_FLIGHT;
    }
    LoopService service =
        calls
            .services()
            .find(
                info.account(),
                request.service,
                request.serviceStart,
                request.serviceLength,
                false,
                false,
                calls.now());
    long[] asked = service == null ? new long[0] : numbers(service.service);
    if (service == null || asked.length == 0) {
      refuse(
          number,
          FailureCode.NO_MEMBER,
          service == null ? FailureMessages.NO_MEMBER : FailureMessages.NO_MEMBER_HERE);
      return 0;
    }
    if (members + asked.length > calls.settings().gather()) {
      refuse(
          number,
          FailureCode.OVERLOADED,
          "it has "
              + asked.length
              + " members, and earlier requests of the connection wait for "
              + members
              + " (expected: at most "
              + calls.settings().gather()
              + " together, services.max-gather-members)");
      return 0;
    }
    int bodyBytes = body.size();
    long bytes = CallHeap.ofGathering(asked.length) + bodyBytes;
    String full = held.acquire(bytes, bodyBytes);
    if (full != null) {
      refuse(number, FailureCode.OVERLOADED, full);
      return 0;
    }
    if (end.refuses(number, asked.length)) {
      held.release(bytes, bodyBytes);
      return 0;
    }
    Gathering gathering = new Gathering(calls, this, service, request, asked, bodyBytes);
    open.put(number, gathering);
    calls.slices().add(gathering);
    return asked.length;
  }

  /**
   * Returns the distinct numbers of members: a moving client is a member twice for a moment, with
   * one number.
   */
  private static long[] numbers(LocalService service) {
    ServiceMember[] all = service.members();
    long[] numbers = new long[all.length];
    int count = 0;
    for (ServiceMember member : all) {
      if (member.serves() && (count == 0 || numbers[count - 1] != member.number())) {
        numbers[count++] = member.number();
      }
    }
    return Arrays.copyOf(numbers, count);
  }

  private void refuse(long number, FailureCode code, String text) {
    calls.stats().requests.add(1);
    calls.stats().failures(code).add(1);
    end.failure(number, 0, code, Execution.NO, 0, false, text);
  }

  /** Returns whether a request is in flight. */
  public boolean has(long call) {
    return open.containsKey(call);
  }

  /**
   * Returns the calls of single members that its requests have, including those that ended without
   * an answer.
   */
  public int inFlight() {
    return members;
  }

  /**
   * Ends a request with {@code CANCELLED} and notifies the members that have not answered. An
   * unknown request is ignored.
   */
  public void cancel(long call, String reason) {
    calls.checkLoop();
    Gathering gathering = open.get(call);
    if (gathering != null) {
      gathering.close(reason);
      end.failure(
          call, 0, FailureCode.CANCELLED, Execution.UNKNOWN, 0, false, FailureMessages.CANCELLED);
    }
  }

  /**
   * Ends all requests with the connection: members learn that their answers are not needed, and the
   * {@link GatherPort} is not called again. A second call does nothing.
   */
  public void close() {
    calls.checkLoop();
    closed = true;
    new ArrayList<>(open.values())
        .forEach(gathering -> gathering.close(FailureMessages.CALLER_GONE));
  }

  /** Removes a request that has had its last answer, or needs none. */
  void ended(long call, int asked, int bodyBytes) {
    open.remove(call);
    held.release(CallHeap.ofGathering(asked) + bodyBytes, bodyBytes);
  }

  /** Adds to the number of calls of its requests. */
  void changed(int more) {
    members += more;
    if (more < 0 && !closed) {
      end.left();
    }
  }

  /** Charges the connection for work of its requests. */
  void chargeWork(long nanos) {
    if (!closed) {
      end.chargeWork(nanos);
    }
  }

  GatherPort end() {
    return end;
  }

  CallerInfo info() {
    return info;
  }

  /** Returns the memory share of the connection. */
  ServiceShare held() {
    return held;
  }
}
