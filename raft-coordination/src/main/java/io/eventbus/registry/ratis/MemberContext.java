package io.eventbus.registry.ratis;

import io.eventbus.link.DedicatedLoop;
import io.eventbus.link.LinkNode;
import io.eventbus.raft.members.PeerBook;
import io.eventbus.registry.membership.VoterPolicy;
import io.eventbus.registry.ratis.admin.MemberView;

/** Resources of a bus before it runs. */
record MemberContext(
    RatisRegistryOptions options,
    LinkNode links,
    DedicatedLoop raftLoop,
    PeerBook peers,
    RegistryStateMachine machine,
    RegistryClock clock,
    MemberThreads threads,
    MemberView view,
    VoterPolicy policy) {}
