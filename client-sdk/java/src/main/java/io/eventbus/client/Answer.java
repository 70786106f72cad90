package io.eventbus.client;

/** Answer of one member to a request to all of them. Immutable. */
public sealed interface Answer {
  /**
   * Returns the number of the member, for {@link RequestOptions#withMember}.
   *
   * @return the number
   */
  long member();

  /**
   * Reply of a member.
   *
   * @param response the reply
   */
  record Replied(Response response) implements Answer {
    @Override
    public long member() {
      return response.member();
    }
  }

  /**
   * Failure of a member to reply.
   *
   * @param member the number of the member
   * @param failure the reason, and whether the member has begun with the request
   */
  record Failed(long member, EventBusException.CallFailed failure) implements Answer {}
}
