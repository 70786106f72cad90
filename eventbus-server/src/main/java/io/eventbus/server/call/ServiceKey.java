package io.eventbus.server.call;

/**
 * Key of a service at a bus: the same name in two accounts is two services. Comparable, because
 * clients choose names: a table in which all of them collide stays fast. Immutable; any thread.
 *
 * @param account account of the service; empty for the default account
 */
public record ServiceKey(String account, String name) implements Comparable<ServiceKey> {
  @Override
  public int compareTo(ServiceKey other) {
    int order = name.compareTo(other.name);
    return order != 0 ? order : account.compareTo(other.account);
  }
}
