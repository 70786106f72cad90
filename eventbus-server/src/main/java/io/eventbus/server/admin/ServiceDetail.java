package io.eventbus.server.admin;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.util.List;
import java.util.Map;

/**
 * A service with its members.
 *
 * @param service the service
 * @param members its members by number
 */
public record ServiceDetail(ServiceInfo service, List<Member> members) {
  /** Copies the list, so that the record is immutable. */
  public ServiceDetail {
    members = List.copyOf(members);
  }

  /**
   * A connection that serves.
   *
   * @param number the member's number, which is the client's producer number; a string in JSON,
   *     because most readers of JSON keep 53 bits of a number
   * @param connection the number of its connection; 0 if that has just ended
   * @param client what the client calls itself
   * @param version of the software, as the client says
   * @param metadata what else the client says of its part
   * @param concurrency calls that it works on at once, as it says
   * @param window calls that it may be given at once
   * @param outstanding calls that it has and has not answered
   * @param latencyMicros from giving it a call to its answer, as the choice of a member sees it
   * @param completions calls that it has answered
   */
  public record Member(
      @JsonFormat(shape = JsonFormat.Shape.STRING) long number,
      long connection,
      String client,
      String version,
      Map<String, String> metadata,
      int concurrency,
      int window,
      int outstanding,
      long latencyMicros,
      long completions) {
    /** Copies the map, so that the record is immutable. */
    public Member {
      metadata = Map.copyOf(metadata);
    }
  }
}
