package io.eventbus.server.federation.call;

import io.eventbus.protocol.ServiceFrames;
import io.eventbus.schema.Execution;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.MemberConnection.Undone;
import io.eventbus.server.call.ServiceKey;
import io.eventbus.server.call.ServiceMember;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.federation.protocol.BusAnswerView;
import io.eventbus.server.federation.schema.Grant;
import java.nio.ByteBuffer;

/** Handles a peer's answers to calls. Confined to the loop. */
final class PeerReplies {
  private final LoopStreams loop;
  private final PeerCallStream bus;
  private final BusAnswerView answer = new BusAnswerView();

  PeerReplies(LoopStreams loop, PeerCallStream bus) {
    this.loop = loop;
    this.bus = bus;
  }

  void onReturn(ByteBuffer in, int from, int to) {
    answer.readReturn(in, from, to);
    Delivery reply = loop.body(in, answer.bodyStart, answer.bodyLength);
    try {
      answered();
      bus.serving().reply(answer.call, answer.handledMicros, reply);
    } finally {
      reply.release();
    }
  }

  void onFail(ByteBuffer in, int from, int to) {
    answer.readFail(in, from, to);
    Failure said =
        ServiceFrames.failure(in, answer.bodyStart, answer.bodyStart + answer.bodyLength);
    FailureCode code = said.getCode();
    if (code == FailureCode.NO_MEMBER && said.getExecuted() == Execution.NO) {
      answered();
      bus.serving().sentBack(answer.call, Undone.NO_MEMBER);
      return;
    }
    if (code == FailureCode.MEMBER_LOST) {
      answered();
      bus.serving().sentBack(answer.call, Undone.MEMBER_LOST);
      return;
    }
    Delivery failure = loop.body(in, answer.bodyStart, answer.bodyLength);
    try {
      answered();
      bus.serving()
          .failure(
              answer.call,
              code,
              said.getExecuted(),
              Math.max(0, said.getRetryAfterMillis()),
              failure);
    } finally {
      failure.release();
    }
  }

  void onBusy(ByteBuffer in, int from, int to) {
    answer.readBusy(in, from, to);
    answered();
    loop.counters().callsBack.add(1);
    bus.serving().sentBack(answer.call, Undone.BUSY);
  }

  private void answered() {
    ServiceMember member = bus.serving().answered(answer.call, answer.member, answer.queuedMicros);
    if (member != null) {
      bus.granted(member, answer.grant);
    }
  }

  void onGrant(Grant grant) {
    bus.granted(new ServiceKey(grant.getAccount(), grant.getService()), grant.getGrant());
  }
}
