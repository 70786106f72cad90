package io.eventbus.client.internal.call;

import io.eventbus.client.Answer;
import io.eventbus.client.CallInterceptor;
import io.eventbus.client.ErrorCode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusException;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.client.Execution;
import io.eventbus.client.RequestOptions;
import io.eventbus.client.Response;
import io.eventbus.client.RetryPolicy;
import io.eventbus.client.Tunnel;
import io.eventbus.client.TunnelOptions;
import io.eventbus.protocol.ReplyView;
import io.eventbus.protocol.ServiceName;
import io.eventbus.schema.CallKind;
import io.eventbus.schema.CallScope;
import io.eventbus.schema.Failure;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Requests of this client that have no result yet, over all its connections. Any thread may use it.
 *
 * <p>A request is kept here from beginning to end, and handed to the outbox whenever there is a
 * connection. An answer counts if it comes over the connection that the request was sent over; so
 * frames that a connection still brings after it was given up change nothing.
 */
public final class PendingCalls {
  private final CallHost host;
  private final List<CallInterceptor> interceptors;
  private final int maxBytes;
  private final AtomicLong usedBytes = new AtomicLong();
  private final AtomicLong numbers = new AtomicLong();
  private final Map<Long, RequestCall> calls = new ConcurrentHashMap<>();
  private final CallDeadlines deadlines;
  private final CompletableFuture<Void> drained = new CompletableFuture<>();
  // Set together: the reasons why a request fails at once.
  private volatile @Nullable String unsupported;
  private volatile @Nullable EventBusException closed;

  /**
   * Creates the table.
   *
   * @param maxBytes maximum size of requests that are not sent, or may be sent again
   */
  public PendingCalls(CallHost host, List<CallInterceptor> interceptors, int maxBytes) {
    this.host = host;
    this.interceptors = interceptors;
    this.maxBytes = maxBytes;
    this.deadlines = new CallDeadlines(host, this::expire);
  }

  // ---- Callers

  /** Makes a request; see {@link io.eventbus.client.ServiceClient#request}. */
  public CompletableFuture<Response> request(String service, Event event, RequestOptions options) {
    ResponseFuture future = new ResponseFuture(host);
    RequestCall call = begin(service, event, options, future);
    if (call != null) {
      future.onAbandon(() -> cancel(call, "the caller has cancelled the request to " + service));
      if (future.isDone()) {
        // Its cancelling may have missed the line before.
        cancel(call, "the caller has cancelled the request to " + service);
      }
    }
    return future;
  }

  /** Asks for a tunnel; see {@link io.eventbus.client.ServiceClient#tunnel}. */
  CompletableFuture<Tunnel> tunnel(
      String service, Event event, TunnelOptions options, Tunnels tunnels) {
    TunnelCall future = new TunnelCall(host, tunnels, service, options);
    RequestCall call =
        begin(
            CallKind.TUNNEL,
            options.windowBytes(),
            service,
            CallScope.ONE,
            event,
            options.request(),
            future);
    if (call != null) {
      future.onAbandon(() -> cancel(call, "the caller has given the tunnel to " + service + " up"));
    }
    return future;
  }

  /** Asks for streams; see {@link io.eventbus.client.ServiceClient#requestStream}. */
  Flow.Publisher<Response> stream(
      String service, Event event, TunnelOptions options, Tunnels tunnels) {
    return subscriber -> {
      StreamCall stream =
          new StreamCall(
              host,
              tunnels,
              service,
              options,
              java.util.Objects.requireNonNull(subscriber, "subscriber"));
      subscriber.onSubscribe(stream);
      try {
        RequestCall call =
            begin(
                CallKind.STREAM,
                options.windowBytes(),
                service,
                CallScope.ONE,
                event,
                options.request(),
                stream);
        if (call != null) {
          stream.begun(() -> cancel(call, "the caller has given the stream of " + service + " up"));
        }
      } catch (RuntimeException e) {
        // An interceptor may throw anything; the subscriber would wait for ever.
        stream.notBegun(e);
      }
    };
  }

  /** Makes a request and waits; see {@link io.eventbus.client.ServiceClient#call}. */
  public Response call(String service, Event event, RequestOptions options) {
    BlockedCaller caller = new BlockedCaller();
    RequestCall call = begin(service, event, options, caller);
    return caller.await(
        () -> {
          if (call != null) {
            cancel(call, "the thread that called " + service + " was interrupted");
          }
        });
  }

  /** Makes requests to all members; see {@link io.eventbus.client.ServiceClient#gather}. */
  public Flow.Publisher<Answer> gather(String service, Event event, RequestOptions options) {
    checkName(service);
    // A second request would bring some members' answers twice.
    RequestOptions once =
        options
            .withIdempotent(false)
            .withRetry(RetryPolicy.NONE)
            .withWaitFor(Duration.ZERO)
            .withMember(0);
    return new GatherPublisher(
        host,
        maxBytes,
        answers -> {
          RequestCall call = begin(CallKind.REPLY, 0, service, CallScope.ALL, event, once, answers);
          return call == null
              ? () -> {}
              : () -> cancel(call, "the subscriber has cancelled the request to " + service);
        });
  }

  private static void checkName(String service) {
    String problem = ServiceName.callProblem(service);
    if (problem != null) {
      throw new EventBusException.IllegalTopic(problem);
    }
  }

  private @Nullable RequestCall begin(
      String service, Event event, RequestOptions options, CallResult outcome) {
    return begin(CallKind.REPLY, 0, service, CallScope.ONE, event, options, outcome);
  }

  /** Begins a request; returns the call, or null if it has failed already. */
  private @Nullable RequestCall begin(
      CallKind kind,
      long limit,
      String service,
      CallScope scope,
      Event event,
      RequestOptions options,
      CallResult outcome) {
    checkName(service);
    Event sent = event;
    for (CallInterceptor interceptor : interceptors) {
      sent = interceptor.beforeSend(service, options, sent);
    }
    Body body = host.encode(sent);
    int cost = RequestCall.cost(body);
    EventBusException refused = refusal(service);
    if (refused == null && usedBytes.addAndGet(cost) > maxBytes) {
      usedBytes.addAndGet(-cost);
      refused =
          new CallFailed.Overloaded(
              "the requests that wait in this client take "
                  + usedBytes.get()
                  + " bytes, and this one "
                  + cost
                  + " (expected: at most "
                  + maxBytes
                  + " together, callBufferBytes)",
              Execution.NO,
              true,
              Duration.ZERO);
    }
    if (refused != null) {
      outcome.fail(refused);
      return null;
    }
    long number = numbers.incrementAndGet();
    long deadline = host.nanoTime() + options.timeout().toNanos();
    RequestCall call =
        new RequestCall(
            kind, limit, number, service, scope, options, body, outcome, deadline, usedBytes);
    calls.put(number, call);
    EventBusException end = closed;
    if (end != null) {
      // The end may have missed it.
      settle(call, call.unsendable() != null, end);
      return null;
    }
    deadlines.watch(deadline);
    host.send(call, true);
    return call;
  }

  private @Nullable EventBusException refusal(String service) {
    EventBusException end = closed;
    if (end != null) {
      return new EventBusException.Closed(String.valueOf(end.getMessage()), end.getCause());
    }
    String bus = unsupported;
    return bus == null ? null : notServedBy(bus, service, Execution.NO);
  }

  private static CallFailed notServedBy(String bus, String service, Execution executed) {
    return new CallFailed.NotServed(
        ErrorCode.UNSUPPORTED,
        "the bus " + bus + " has no services: the request to " + service + " is not sent",
        executed,
        false);
  }

  private void cancel(RequestCall call, String why) {
    RequestCall.Ended ended = call.cancel(why);
    if (ended == null) {
      return;
    }
    remove(call);
    call.outcome.fail(ended.failure());
    CallFrame cancel = ended.cancel();
    if (cancel != null) {
      host.send(cancel, true);
    }
  }

  private void remove(RequestCall call) {
    calls.remove(call.number);
    if (closed != null && calls.isEmpty()) {
      drained.complete(null);
    }
  }

  private void settle(RequestCall call, boolean ended, EventBusException failure) {
    if (ended) {
      remove(call);
      call.outcome.fail(failure);
    }
  }

  // ---- Answers of the bus, on the connection's thread

  void reply(ReplyView view, CallPath over) {
    RequestCall call = calls.get(view.call());
    if (call == null) {
      return;
    }
    if (view.more()) {
      GatheredAnswers answers = gathered(call, over);
      if (answers != null) {
        answers.add(new Answer.Replied(response(view)), view.eventLength());
      }
    } else if (call.answered(over)) {
      remove(call);
      if (call.kind == CallKind.REPLY) {
        call.outcome.succeed(response(view));
      } else {
        call.outcome.accept(call.number, over, response(view), view.limit());
      }
    }
  }

  private static Response response(ReplyView view) {
    return new Response(
        Events.of(view.event(), view.schema()),
        view.member(),
        micros(view.queuedMicros()),
        micros(view.handledMicros()));
  }

  /**
   * Returns the receiver of the answers of several members; null for none, or if this is not its
   * connection.
   */
  private static @Nullable GatheredAnswers gathered(RequestCall call, CallPath over) {
    return call.outcome instanceof GatheredAnswers answers && call.isSentOver(over)
        ? answers
        : null;
  }

  /** Takes a failure of one member of many; returns false if it is one of the whole request. */
  private boolean failedInPart(RequestCall call, Failure failure, CallPath over) {
    GatheredAnswers answers = gathered(call, over);
    if (answers == null || !(failure.getMore() || failure.getMember() != 0)) {
      return failure.getMore();
    }
    Answer answer =
        new Answer.Failed(failure.getMember(), CallFailures.seen(call.service, failure, false));
    if (failure.getMore()) {
      answers.add(answer, failure.getDetails().remaining());
    } else if (call.answered(over)) {
      remove(call);
      answers.addLast(answer);
    }
    return true;
  }

  private static Duration micros(int micros) {
    return Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(micros));
  }

  /** Takes a failure; returns false if it is about no call of this client that waits. */
  boolean failed(Failure failure, CallPath over) {
    RequestCall call = calls.get(failure.getCall());
    if (call == null) {
      return false;
    }
    if (failedInPart(call, failure, over)) {
      return true;
    }
    if (call.isMaybeExecuted() && failure.getExecuted() == io.eventbus.schema.Execution.NO) {
      // That is true of this attempt only.
      failure.setExecuted(io.eventbus.schema.Execution.UNKNOWN);
    }
    CallFailed seen = CallFailures.seen(call.service, failure, call.options.idempotent());
    long delay = call.failed(over, seen, host.random(), host.nanoTime());
    if (delay == RequestCall.ENDED) {
      settle(call, true, seen);
    } else if (delay >= 0) {
      call.pausing(host.schedule(() -> again(call, call.resume()), delay));
    }
    return true;
  }

  private void again(RequestCall call, boolean waits) {
    if (waits) {
      host.send(call, false);
    }
  }

  // ---- Connections, on the conductor

  /** Sends what waits over a new connection, also what was handed to the outbox before. */
  public void connected(String bus, boolean serves, int maxEventBytes) {
    unsupported = serves ? null : bus;
    calls.values().stream()
        .filter(RequestCall::isWaiting)
        .sorted(Comparator.comparingLong(call -> call.number))
        .forEach(call -> connected(call, bus, serves, maxEventBytes));
  }

  private void connected(RequestCall call, String bus, boolean serves, int maxEventBytes) {
    if (serves && call.bodyBytes() <= maxEventBytes) {
      host.send(call, false);
      return;
    }
    Execution executed = call.unsendable();
    if (executed == null) {
      return;
    }
    settle(
        call,
        true,
        serves
            ? new CallFailed.NotServed(
                ErrorCode.TOO_BIG,
                "the bus "
                    + bus
                    + " takes smaller events than the one of the request to "
                    + call.service
                    + " (expected: at most "
                    + maxEventBytes
                    + " bytes)",
                executed,
                false)
            : notServedBy(bus, call.service, executed));
  }

  /** Settles the requests of a connection that is lost or given up. */
  void lost(CallPath connection) {
    long now = host.nanoTime();
    calls.values().forEach(call -> lost(call, call.lost(connection, now)));
  }

  private void lost(RequestCall call, RequestCall.Loss loss) {
    settle(call, loss == RequestCall.Loss.ENDED, call.busLost());
    again(call, loss == RequestCall.Loss.AGAIN);
  }

  boolean isQuiet(CallPath connection) {
    return isNone(call -> call.isSentOver(connection));
  }

  private boolean isNone(Predicate<RequestCall> what) {
    return calls.values().stream().noneMatch(what);
  }

  /** Checks all calls; returns when to check again, or null if there are none. */
  private @Nullable Long expire(long now) {
    Long next = null;
    for (RequestCall call : calls.values()) {
      CallFailed failure = call.expire(now);
      if (failure != null) {
        CallFrame givenUp = call.givenUp();
        if (givenUp != null) {
          host.send(givenUp, false);
        }
        settle(call, true, failure);
      } else {
        long due = call.due();
        next = next == null || due - next < 0 ? due : next;
      }
    }
    return next;
  }

  // ---- The end

  /** Takes no more requests; completes when the present ones have a result. */
  public CompletableFuture<Void> drain() {
    if (closed == null) {
      closed = new EventBusException.Closed("the client is closed");
    }
    if (calls.isEmpty()) {
      drained.complete(null);
    }
    return drained;
  }

  /** Ends all requests with the client. */
  public void close(EventBusException why) {
    closed = why;
    for (RequestCall call : calls.values()) {
      RequestCall.Ended ended =
          call.cancel(why.getMessage() + ", before " + call.service + " answered");
      if (ended != null) {
        settle(call, true, ended.failure());
      }
    }
    drained.complete(null);
  }

  /** Returns the number of requests that have no result yet. */
  int size() {
    return calls.size();
  }

  /** Returns the size of requests that are not sent, or may be sent again. */
  long usedBytes() {
    return usedBytes.get();
  }
}
