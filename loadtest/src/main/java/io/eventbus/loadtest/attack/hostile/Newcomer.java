package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Welcome;
import java.nio.ByteBuffer;

/**
 * Subscribes once and goes. Counts {@code newcomersSubscribed}, {@code newcomersRefused} and those
 * with their error code.
 */
record Newcomer(Field field, String filter, Overflow overflow) implements AttackPeer {
  @Override
  public void welcomed(AttackWire wire, Welcome welcome) {
    wire.sendMessage(ClientFrames.subscribe(1, filter, overflow));
  }

  @Override
  public boolean reads() {
    return true;
  }

  @Override
  public void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {
    if (type == TypeCode.CONFIRM.code()) {
      field.tally().add("newcomersSubscribed", 1);
      wire.end();
    } else if (type == TypeCode.PROBLEM.code()) {
      field.tally().add("newcomersRefused", 1);
      field.tally().add("newcomers" + ControlFrames.problem(message, from, to).getCode(), 1);
      wire.end();
    }
  }
}
