package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.AttackTally;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Welcome;
import java.nio.ByteBuffer;

/**
 * A well-behaved client that registers one service. Counts {@code newcomersServe} and {@code
 * newcomersRefused}.
 */
record NewMember(AttackTally tally, String service) implements AttackPeer {
  @Override
  public void welcomed(AttackWire wire, Welcome welcome) {
    wire.sendMessage(ClientCalls.register(1, service, 1));
  }

  @Override
  public boolean reads() {
    return true;
  }

  @Override
  public void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {
    if (type == TypeCode.CONFIRM.code() || type == TypeCode.PROBLEM.code()) {
      tally.add(type == TypeCode.CONFIRM.code() ? "newcomersServe" : "newcomersRefused", 1);
      wire.end();
    }
  }
}
