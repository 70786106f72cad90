package io.eventbus.server.security.jwt;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** Body of an answer, which fails when it is too long. Called by one thread at a time. */
final class BoundedBody implements HttpResponse.BodySubscriber<byte[]> {
  private final int max;
  private final CompletableFuture<byte[]> body = new CompletableFuture<>();
  private final ByteArrayOutputStream received = new ByteArrayOutputStream();
  private Flow.@Nullable Subscription subscription;

  BoundedBody(int max) {
    this.max = max;
  }

  @Override
  public CompletionStage<byte[]> getBody() {
    return body;
  }

  @Override
  public void onSubscribe(Flow.Subscription begun) {
    subscription = begun;
    begun.request(Long.MAX_VALUE);
  }

  @Override
  public void onNext(List<ByteBuffer> parts) {
    for (ByteBuffer part : parts) {
      if (received.size() + part.remaining() > max) {
        if (subscription != null) {
          subscription.cancel();
        }
        body.completeExceptionally(new IOException("the answer has more than " + max + " bytes"));
        return;
      }
      byte[] bytes = new byte[part.remaining()];
      part.get(bytes);
      received.writeBytes(bytes);
    }
  }

  @Override
  public void onError(Throwable failure) {
    body.completeExceptionally(failure);
  }

  @Override
  public void onComplete() {
    body.complete(received.toByteArray());
  }
}
