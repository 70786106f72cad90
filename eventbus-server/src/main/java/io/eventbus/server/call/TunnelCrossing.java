package io.eventbus.server.call;

import io.eventbus.server.call.tunnel.TunnelEnding;
import io.eventbus.server.call.tunnel.TunnelHalf;
import io.eventbus.server.call.tunnel.TunnelLoop;
import io.eventbus.server.delivery.Delivery;
import java.util.function.BooleanSupplier;

/**
 * Hands frames of tunnels to other loops, in order with other notes about calls. Confined to the
 * loop.
 */
final class TunnelCrossing implements TunnelLoop {
  private final LoopCalls calls;

  TunnelCrossing(LoopCalls calls) {
    this.calls = calls;
  }

  @Override
  public int number() {
    return calls.number();
  }

  @Override
  public boolean isCurrent() {
    return calls.isCurrent();
  }

  @Override
  public void inSlices(BooleanSupplier step) {
    calls.inSlices(step);
  }

  @Override
  public void data(TunnelHalf to, long offset, boolean last, Delivery frame) {
    CallNote note = note(to, CallNote.Kind.TUNNEL_DATA);
    note.number = offset;
    note.last = last;
    note.body = frame;
  }

  @Override
  public void credit(TunnelHalf to, long limit, long received) {
    CallNote note = note(to, CallNote.Kind.TUNNEL_CREDIT);
    note.number = limit;
    note.received = received;
  }

  @Override
  public void end(TunnelHalf to, TunnelEnding end) {
    note(to, CallNote.Kind.TUNNEL_END).ending = end;
  }

  private CallNote note(TunnelHalf to, CallNote.Kind kind) {
    CallNote note = calls.startNote(to.loop(), kind);
    note.tunnel = to;
    return note;
  }
}
