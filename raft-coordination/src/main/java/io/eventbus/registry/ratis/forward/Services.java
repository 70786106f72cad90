package io.eventbus.registry.ratis.forward;

/** Numbers of the registry's services, and the channel for them. */
public final class Services {
  static final int COMMAND = 10;
  static final int READ = 11;

  /** Status of a bus on its way into a cluster. */
  public static final int PROBE = 20;

  /** Request for membership. */
  public static final int JOIN = 21;

  /** Requests of operators to the leader. */
  public static final int ADMINISTRATION = 30;

  /** Channel of everything that is not Raft's. */
  public static final String COMMANDS = "registry";

  private Services() {}
}
