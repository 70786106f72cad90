package io.eventbus.conformance.sdk;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.client.Answer;
import java.util.concurrent.Flow;

/** Collects the answers of all members, and writes them after the last one. */
final class Gathered implements Flow.Subscriber<Answer> {
  private final long id;
  private final Output out;
  private final ObjectNode all = Output.object();
  private final ArrayNode answers = all.putArray("answers");

  Gathered(long id, Output out) {
    this.id = id;
    this.out = out;
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    subscription.request(Long.MAX_VALUE);
  }

  @Override
  public void onNext(Answer answer) {
    ObjectNode line = answers.addObject().put("member", Long.toString(answer.member()));
    if (answer instanceof Answer.Replied replied) {
      line.put("payload", replied.response().event().payload());
    } else if (answer instanceof Answer.Failed failed) {
      line.set("error", Output.error(failed.failure()));
    }
  }

  @Override
  public void onError(Throwable failure) {
    out.failed(id, failure);
  }

  @Override
  public void onComplete() {
    out.ok(id, all);
  }
}
