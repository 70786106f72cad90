package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.ServiceFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Execution;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import io.eventbus.schema.Invoke;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Register;
import io.eventbus.schema.Reply;
import io.eventbus.schema.Request;
import io.eventbus.schema.Welcome;
import io.eventbus.server.samples.SampleCalls;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Callers and members on the wire, at a bus with two loops. */
@ExtendWith(LeakWatch.class)
@Timeout(180)
class ServicesIT {
  private static final int MAX_IN_FLIGHT = 500;

  private final WatchedBus bus;
  private final List<RawClient> clients = new ArrayList<>();
  private long member;

  ServicesIT() throws IOException {
    bus =
        WatchedBus.alone(
            "listen.event-loops", "2",
            "limits.payload-bytes", "64KiB",
            "limits.message-bytes", "128KiB",
            "limits.queue-bytes", "256KiB",
            "limits.calls", String.valueOf(MAX_IN_FLIGHT),
            // No test may go on because of it.
            "timeouts.slow-subscriber", "10m");
  }

  @AfterEach
  void close() throws Exception {
    for (RawClient client : clients) {
      client.close();
    }
    bus.close();
  }

  private RawClient client() throws IOException {
    RawClient client = RawClient.upgraded(bus.uri());
    clients.add(client);
    Welcome welcome = client.hello(null);
    assertThat(welcome.getCalls()).isEqualTo(MAX_IN_FLIGHT);
    member = welcome.getProducer();
    return client;
  }

  private RawClient serving(String service, int concurrency) throws IOException {
    RawClient client = client();
    send(client, new Register(1L, service, concurrency, false, "", Map.of(), Overflow.DROP_OLDEST));
    assertThat(client.expectConfirm().getTypeCode()).isEqualTo(TypeCode.REGISTER.code());
    return client;
  }

  private static void send(RawClient client, Register register) throws IOException {
    client.send(ControlFrames.encode(TypeCode.REGISTER, register));
  }

  private static void request(RawClient client, Request... requests) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (Request request : requests) {
      all.writeBytes(ControlFrames.encode(TypeCode.REQUEST, request));
    }
    client.send(all.toByteArray());
  }

  private static void reply(RawClient client, long call, String payload) throws IOException {
    client.send(ControlFrames.encode(TypeCode.REPLY, SampleCalls.reply(call, payload)));
  }

  private static Invoke invoked(RawClient client) throws IOException {
    RawClient.BusFrame frame = client.expect(TypeCode.INVOKE);
    return SampleCalls.invoke(frame.buffer(), 0, frame.body().length);
  }

  private static Reply replied(RawClient client) throws IOException {
    RawClient.BusFrame frame = client.expect(TypeCode.REPLY);
    return SampleCalls.reply(frame.buffer(), 0, frame.body().length);
  }

  private static Failure failed(RawClient client) throws IOException {
    RawClient.BusFrame frame = client.expect(TypeCode.FAILURE);
    return ServiceFrames.failure(frame.buffer(), 0, frame.body().length);
  }

  private static void assertFailed(
      RawClient client, long call, FailureCode code, Execution executed) throws IOException {
    Failure failure = failed(client);
    assertThat(failure.getCall()).isEqualTo(call);
    assertThat(failure.getCode()).as(failure.getMessage()).isEqualTo(code);
    assertThat(failure.getExecuted()).isEqualTo(executed);
  }

  @Test
  void callsAreAnsweredAcrossLoops() throws Exception {
    RawClient serving = serving("orders", 4);
    long number = member;
    // Of two connections after each other, one is on the member's loop and one is not.
    for (RawClient caller : List.of(client(), client())) {
      for (long call = 1; call <= 20; call++) {
        request(caller, SampleCalls.request(call, "orders", "ask " + call));
        Invoke invoke = invoked(serving);
        assertThat(SampleCalls.text(invoke.getEvent())).isEqualTo("ask " + call);
        reply(serving, invoke.getCall(), "answer " + call);
        Reply reply = replied(caller);
        assertThat(reply.getCall()).isEqualTo(call);
        assertThat(reply.getMember()).isEqualTo(number);
        assertThat(SampleCalls.text(reply.getEvent())).isEqualTo("answer " + call);
      }
    }
    assertThat(bus.metric("eventbus_services")).isEqualTo(1);
  }

  @Test
  void refusedActionsAreReportedAndTheConnectionStays() throws Exception {
    serving("orders", 1);
    RawClient caller = client();
    request(caller, SampleCalls.request(1, "nobody", ""));
    assertFailed(caller, 1, FailureCode.NO_MEMBER, Execution.NO);
    request(caller, SampleCalls.request(2, "orders", "x".repeat((64 << 10) + 1)));
    assertFailed(caller, 2, FailureCode.TOO_BIG, Execution.NO);
    Request other = SampleCalls.request(3, "orders", "");
    other.setMember(4711L);
    request(caller, other);
    assertFailed(caller, 3, FailureCode.NO_MEMBER, Execution.NO);
    send(caller, new Register(1L, "$bus", 1, false, "", Map.of(), Overflow.DROP_OLDEST));
    assertThat(caller.expectProblem().getCode()).isEqualTo(ErrorCode.ILLEGAL_TOPIC);
    request(caller, SampleCalls.request(5, "orders", ""), SampleCalls.request(5, "orders", ""));
    assertThat(caller.expectProblem().getCode()).isEqualTo(ErrorCode.PROTOCOL_VIOLATION);
    assertThat(caller.awaitClose()).isEqualTo(1002);
  }

  @Test
  void aMemberIsKilledWithCallsThatItHasAndCallsThatWait() throws Exception {
    RawClient killed = serving("orders", 1);
    RawClient caller = client();
    request(
        caller,
        SampleCalls.request(1, "orders", ""),
        SampleCalls.request(2, "orders", ""),
        SampleCalls.request(3, "orders", ""));
    assertThat(invoked(killed).getRequest()).isEqualTo(1);
    killed.socket().setSoLinger(true, 0);
    killed.close();

    List<String> ends = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Failure failure = failed(caller);
      ends.add(failure.getCall() + " " + failure.getCode() + " " + failure.getExecuted());
    }
    assertThat(ends).contains("1 MEMBER_LOST UNKNOWN", "3 NO_MEMBER NO").hasSize(3);
  }

  @Test
  void aFloodOfCancelsIsAnsweredAndBounded() throws Exception {
    RawClient serving = serving("orders", 2);
    RawClient caller = client();
    int calls = 5_000;
    Thread flood =
        new Thread(
            () -> {
              try {
                for (long call = 1; call <= calls; call++) {
                  ByteArrayOutputStream two = new ByteArrayOutputStream();
                  two.writeBytes(
                      ControlFrames.encode(
                          TypeCode.REQUEST, SampleCalls.request(call, "orders", "")));
                  two.writeBytes(ControlFrames.encode(TypeCode.CANCEL, new Cancel(call, "")));
                  caller.send(two.toByteArray());
                }
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    flood.start();
    int known = 0;
    for (int i = 0; i < calls; i++) {
      known += failed(caller).getExecuted() == Execution.UNKNOWN ? 1 : 0;
    }
    flood.join();
    // Only as many as the member may have at once, because it has answered none.
    assertThat(known).isBetween(1, 8);
    for (int i = 0; i < known; i++) {
      RawClient.BusFrame frame = serving.read();
      while (frame != null && frame.typeCode() == TypeCode.CANCEL.code()) {
        frame = serving.read();
      }
      assertThat(frame).isNotNull();
      reply(serving, SampleCalls.invoke(frame.buffer(), 0, frame.body().length).getCall(), "");
    }
    WatchedBus.await(
        () -> bus.metric("eventbus_calls_in_flight") == 0, () -> "calls are still in flight");
  }

  @Test
  void aCallerIsKilledWithAsManyCallsInFlightAsItMayHave() throws Exception {
    RawClient serving = serving("orders", 1);
    RawClient killed = client();
    for (long call = 1; call <= MAX_IN_FLIGHT + 1; call++) {
      request(killed, SampleCalls.request(call, "orders", ""));
    }
    assertFailed(killed, MAX_IN_FLIGHT + 1, FailureCode.OVERLOADED, Execution.NO);
    Invoke had = invoked(serving);
    killed.close();

    WatchedBus.await(
        () -> bus.metric("eventbus_calls_queued") == 0, () -> "calls of nobody still wait");
    RawClient other = client();
    request(other, SampleCalls.request(1, "orders", "still there?"));
    reply(serving, had.getCall(), "too late");
    for (RawClient.BusFrame frame = serving.read(); ; frame = serving.read()) {
      assertThat(frame).isNotNull();
      if (frame.typeCode() == TypeCode.INVOKE.code()) {
        Invoke invoke = SampleCalls.invoke(frame.buffer(), 0, frame.body().length);
        reply(serving, invoke.getCall(), "yes");
        if (SampleCalls.text(invoke.getEvent()).equals("still there?")) {
          break;
        }
      }
    }
    assertThat(SampleCalls.text(replied(other).getEvent())).isEqualTo("yes");
  }

  /** A member answers while events that it has published before wait for room. */
  @Test
  void aTopicIsFullWhileItsPublisherServes() throws Exception {
    RawClient serving = serving("orders", 4);
    RawClient slow = RawClient.slow(bus.uri(), 4096);
    clients.add(slow);
    slow.upgrade(bus.uri().getPath(), "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n");
    slow.hello(null);
    slow.subscribe(1, "t", null, Overflow.BLOCK);
    long sequence = 0;
    byte[] payload = new byte[32 << 10];
    while (bus.metric("eventbus_publisher_waits_total") == 0) {
      serving.send(RawClient.publish("t", ++sequence, true, payload));
      while (bus.metric("eventbus_publisher_waits_total") == 0 && !serving.hasData(20)) {
        // Confirmed, or stopped.
        Thread.onSpinWait();
      }
      if (serving.hasData(1)) {
        serving.expectConfirm();
      }
    }

    RawClient caller = client();
    request(caller, SampleCalls.request(1, "orders", "are you there?"));
    reply(serving, invoked(serving).getCall(), "yes");
    assertThat(SampleCalls.text(replied(caller).getEvent())).isEqualTo("yes");

    for (long next = 1; next <= sequence; ) {
      next += slow.expectDeliver().payloads().size();
    }
    assertThat(serving.expectConfirm().getAbout()).isEqualTo(sequence);
  }
}
