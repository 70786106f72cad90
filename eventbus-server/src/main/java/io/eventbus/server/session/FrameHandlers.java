package io.eventbus.server.session;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.DurableFrames;
import io.eventbus.protocol.ServiceFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ChangeBusFailed;
import io.eventbus.schema.Subscribe;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Frames that a client may send, with their handlers: a line for each type of frame, a class for
 * each capability behind it. {@code Publish}, {@code Request}, {@code Reply} and {@code Data} are
 * absent: there are millions of them a second, and the session goes straight to {@link
 * SessionPublishing}, {@link SessionCalls}, {@link SessionServices} and {@link SessionTunnels}.
 */
final class FrameHandlers {
  private static final Map<TypeCode, FrameHandler> BY_TYPE = new EnumMap<>(TypeCode.class);

  static {
    BY_TYPE.put(
        TypeCode.HELLO,
        (session, in, from, to, retry) -> session.admission().hello(in, from, to, retry));
    BY_TYPE.put(
        TypeCode.SUBSCRIBE,
        (session, in, from, to, retry) -> {
          Subscribe request = ControlFrames.subscribe(in, from, to);
          return session.calls().refuseSubscription(request.getId())
              || session.subscriptions().subscribe(request, retry);
        });
    BY_TYPE.put(
        TypeCode.UNSUBSCRIBE,
        (session, in, from, to, retry) -> {
          long id = ControlFrames.unsubscribe(in, from, to).getId();
          SessionConsumers consumers = session.consumersIfAny();
          if (consumers != null && consumers.has(id)) {
            consumers.unsubscribe(id);
          } else if (!session.subscriptions().unsubscribe(id, retry)) {
            return false;
          }
          session.move().progresses();
          return true;
        });
    BY_TYPE.put(
        TypeCode.ACK,
        (session, in, from, to, retry) -> {
          session.acknowledgements().add(ControlFrames.ack(in, from, to));
          return true;
        });
    BY_TYPE.put(
        TypeCode.CHANGE_BUS_FAILED,
        (session, in, from, to, retry) -> {
          ChangeBusFailed failed = ControlFrames.changeBusFailed(in, from, to);
          session.move().failed(failed.getToken(), failed.getMessage());
          return true;
        });
    BY_TYPE.put(
        TypeCode.BARRIER,
        (session, in, from, to, retry) -> {
          session.barriers().add(ControlFrames.barrier(in, from, to));
          session.move().progresses();
          return true;
        });
    BY_TYPE.put(
        TypeCode.CREDIT,
        (session, in, from, to, retry) -> {
          session.calls().credit(in, from, to, session.receivedNanos());
          return true;
        });
    BY_TYPE.put(
        TypeCode.CONSUME,
        (session, in, from, to, retry) ->
            session.consumers().consume(DurableFrames.consume(in, from, to), retry));
    BY_TYPE.put(
        TypeCode.SETTLE,
        (session, in, from, to, retry) -> {
          session.consumers().settle(DurableFrames.settle(in, from, to));
          return true;
        });
    BY_TYPE.put(
        TypeCode.ASK,
        (session, in, from, to, retry) -> {
          session.consumers().questions().ask(DurableFrames.ask(in, from, to));
          return true;
        });
    BY_TYPE.put(
        TypeCode.REGISTER,
        (session, in, from, to, retry) -> {
          session.calls().getOrCreateServices().register(ServiceFrames.register(in, from, to));
          return true;
        });
    BY_TYPE.put(
        TypeCode.UNREGISTER,
        (session, in, from, to, retry) -> {
          session
              .calls()
              .getOrCreateServices()
              .unregister(ServiceFrames.unregister(in, from, to).getId());
          session.move().progresses();
          return true;
        });
    BY_TYPE.put(
        TypeCode.CAPACITY,
        (session, in, from, to, retry) -> {
          session.calls().getOrCreateServices().capacity(ServiceFrames.capacity(in, from, to));
          return true;
        });
    BY_TYPE.put(
        TypeCode.FAILURE,
        (session, in, from, to, retry) -> {
          session.calls().failure(in, from, to, session.receivedNanos());
          return true;
        });
    BY_TYPE.put(
        TypeCode.CANCEL,
        (session, in, from, to, retry) -> {
          session.calls().cancel(ServiceFrames.cancel(in, from, to));
          return true;
        });
    BY_TYPE.put(
        TypeCode.AUTHENTICATE,
        (session, in, from, to, retry) -> {
          session
              .admission()
              .renewal()
              .begin(ControlFrames.authenticate(in, from, to), session.receivedNanos());
          return true;
        });
    BY_TYPE.put(
        TypeCode.ECHO,
        (session, in, from, to, retry) -> {
          session.out().send(ControlFrames.encode(TypeCode.ECHO, ControlFrames.echo(in, from, to)));
          return true;
        });
  }

  private FrameHandlers() {}

  /** Returns whether a type is for durable topics, which not every bus has. */
  static boolean isForDurableTopics(TypeCode type) {
    return type == TypeCode.CONSUME || type == TypeCode.SETTLE || type == TypeCode.ASK;
  }

  /** Returns the id that a frame is about; 0 for a type without one. */
  static long idOf(@Nullable TypeCode type, ByteBuffer in, int from, int to) {
    boolean has =
        type == TypeCode.SUBSCRIBE
            || type == TypeCode.REGISTER
            || type == TypeCode.CAPACITY
            || (type != null && isForDurableTopics(type));
    return has ? ServiceFrames.firstNumber(in, from, to) : 0;
  }

  /** Returns the handler of a type of frame; null if only a bus may send it. */
  static @Nullable FrameHandler of(TypeCode type) {
    return BY_TYPE.get(type);
  }
}
