package io.eventbus.link;

import java.util.concurrent.CompletionStage;

/**
 * Service that answers the calls of other buses.
 *
 * <p>Implementers: this runs on a thread that moves the bytes of links, so it must not block. An
 * exception that it throws, or completes the stage with, goes to the caller: a {@link
 * LinkServiceException} with its code, anything else as {@link LinkServiceException#INTERNAL}.
 */
@FunctionalInterface
public interface LinkService {
  /**
   * Answers a call.
   *
   * @param peer the bus that calls
   * @param request its request
   * @return a stage that completes with the answer
   */
  CompletionStage<byte[]> answer(LinkPeer peer, byte[] request);
}
