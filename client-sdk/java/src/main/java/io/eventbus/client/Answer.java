package io.eventbus.client;

/** What one member has answered to a request to all of them. Immutable. */
public sealed interface Answer {
  /**
   * Returns which member it is.
   *
   * @return its number, for {@link RequestOptions#withMember}
   */
  long member();

  /**
   * A reply.
   *
   * @param response what the member has replied
   */
  record Replied(Response response) implements Answer {
    @Override
    public long member() {
      return response.member();
    }
  }

  /**
   * There is no reply of a member.
   *
   * @param member the member
   * @param failure why, and whether it has begun with the request
   */
  record Failed(long member, EventBusException.CallFailed failure) implements Answer {}
}
